-- Rows and bytes of an environment by kind and day, with its share of the disk that the tables of the day use.
-- $1: its number; $2: kinds; $3: the tables of each of these kinds.
WITH mine AS (
  SELECT kind, day, retention, rows, bytes FROM archived_days WHERE env_id = $1 AND rows > 0
),
shares AS (
  -- Each row takes some bytes besides its payload.
  SELECT m.kind, m.day, m.retention, m.rows, m.bytes,
         (m.bytes + 100 * m.rows)::float8 / sum(d.bytes + 100 * d.rows) AS share
  FROM mine m JOIN archived_days d ON d.kind = m.kind AND d.day = m.day AND d.retention = m.retention
  GROUP BY m.kind, m.day, m.retention, m.rows, m.bytes
),
tables AS (
  SELECT * FROM unnest($2::text[], $3::text[]) AS t (kind, name)
)
SELECT s.kind, s.day, s.rows, s.bytes,
       round(s.share * coalesce(sum(pg_total_relation_size(to_regclass(
         t.name || '_r' || s.retention || '_' || to_char(to_timestamp(s.day / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD')
       ))), 0))::bigint AS disk_bytes
FROM shares s JOIN tables t ON t.kind = s.kind
GROUP BY s.kind, s.day, s.rows, s.bytes, s.share
ORDER BY s.day;
