// A gateway in Go with the standard library: one page of four calls, as one would write it in an afternoon. Each part is
// decoded into a map and all of them are encoded again, which is also how KrakenD's core goes about it; this is not KrakenD.
//
// Usage: gateway ADDRESS ORIGIN
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"
)

var parts = [...]string{"user", "orders", "news", "weather"}

type answer struct {
	part  string
	value map[string]any
	err   error
}

func main() {
	address, origin := os.Args[1], os.Args[2]
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConns: 512, MaxIdleConnsPerHost: 512, DisableCompression: true},
	}
	ask := func(request *http.Request, part string, answers chan<- answer) {
		url := "http://" + origin + "/" + part + "/" + request.PathValue("id")
		call, err := http.NewRequestWithContext(request.Context(), http.MethodGet, url, nil)
		if err != nil {
			answers <- answer{err: err}
			return
		}
		response, err := client.Do(call)
		if err != nil {
			answers <- answer{err: err}
			return
		}
		defer response.Body.Close()
		decoder := json.NewDecoder(response.Body)
		decoder.UseNumber() // as the numbers came
		value := map[string]any{}
		err = decoder.Decode(&value)
		answers <- answer{part, value, err}
	}
	http.HandleFunc("GET /page/{id}", func(writer http.ResponseWriter, request *http.Request) {
		answers := make(chan answer, len(parts))
		for _, part := range parts {
			go ask(request, part, answers)
		}
		page := make(map[string]any, len(parts))
		for range parts {
			one := <-answers
			if one.err != nil {
				http.Error(writer, one.err.Error(), http.StatusBadGateway)
				return
			}
			page[one.part] = one.value
		}
		content, err := json.Marshal(page)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		writer.Write(content)
	})
	log.Fatal(http.ListenAndServe(address, nil))
}
