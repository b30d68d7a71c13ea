-- The tables of examples/compose/fleetfoot.yaml, a hundred rows in each, for SQLite:
--
--   sqlite3 examples/compose/shop.db < examples/compose/tables.sql
CREATE TABLE IF NOT EXISTS test_1 (id INTEGER PRIMARY KEY, title TEXT, description TEXT, createdAt DATETIME, modifiedAt DATETIME);
CREATE TABLE IF NOT EXISTS test_2 (id INTEGER PRIMARY KEY, title TEXT, description TEXT, createdAt DATETIME, modifiedAt DATETIME);
CREATE TABLE IF NOT EXISTS test_3 (id INTEGER PRIMARY KEY, title TEXT, description TEXT, createdAt DATETIME, modifiedAt DATETIME);
CREATE TABLE IF NOT EXISTS test_4 (id INTEGER PRIMARY KEY, title TEXT, description TEXT, createdAt DATETIME, modifiedAt DATETIME);

WITH RECURSIVE number(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM number WHERE id < 100)
INSERT OR REPLACE INTO test_1 SELECT id, 'title ' || id, 'the first table', '2024-01-31 12:00:00', '2024-01-31 12:00:00' FROM number;
WITH RECURSIVE number(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM number WHERE id < 100)
INSERT OR REPLACE INTO test_2 SELECT id, 'title ' || id, 'the second table', '2024-01-31 12:00:00', '2024-01-31 12:00:00' FROM number;
WITH RECURSIVE number(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM number WHERE id < 100)
INSERT OR REPLACE INTO test_3 SELECT id, 'title ' || id, 'the third table', '2024-01-31 12:00:00', '2024-01-31 12:00:00' FROM number;
WITH RECURSIVE number(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM number WHERE id < 100)
INSERT OR REPLACE INTO test_4 SELECT id, 'title ' || id, 'the fourth table', '2024-01-31 12:00:00', '2024-01-31 12:00:00' FROM number;
