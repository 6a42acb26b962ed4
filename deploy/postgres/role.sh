#!/bin/sh
# The image of Postgres runs this once, when it makes its data: the service gets a role of its own that owns its database and nothing else. The
# superuser has no password afterwards: it can connect from inside the container only.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password POSTGRES_PASSWORD
CREATE ROLE tidegate LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE tidegate OWNER tidegate;
REVOKE CONNECT ON DATABASE tidegate, postgres FROM PUBLIC;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
