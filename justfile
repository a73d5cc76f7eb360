# The daily commands. `.ci/run` runs the same checks on a clean clone.

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

# No settings file of a service that is installed on this machine.
export LUKASA_ENV_FILE := ""

# Lists the recipes.
default:
    @just --list --unsorted

# Everything a change must pass; the drift of openapi.json is one of the tests.
check: format-check lint doc book deny test

# Runs Lukasa with its own database; arguments are passed to `lukasa serve`.
dev *args:
    @scripts/dev "$@"

# The tests, with their own database; arguments are passed to nextest.
test *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo nextest run --workspace "$@"

# The private PostgreSQL: start, stop, status, url, psql, bin, destroy.
db *args='start':
    @scripts/postgres "$@"

# Formats the code.
fmt:
    cargo fmt --all

# Refuses unformatted code.
format-check:
    cargo fmt --all --check

# Clippy, with warnings as errors.
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# The API documentation of the crates, with warnings as errors.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The documents as a site in target/book, with their links checked; `just book serve` shows it while editing.
book *args='build':
    scripts/check-docs
    mdbook "$@"
    [ "$1" != build ] || scripts/check-docs --site target/book

# Licences, banned crates and sources of the dependencies.
deny:
    cargo deny check bans licenses sources

# Known vulnerabilities in the locked dependencies; needs a network.
advisories:
    .ci/advisories

# Generates openapi.json, docs/errors.md, the operations in docs/api.md and parts of the clients from the code.
docs:
    cargo run -q --bin lukasa -- openapi > openapi.json
    cargo run -q --bin lukasa -- errors > docs/errors.md
    scripts/api-table
    python3 clients/python/generate.py
    npm --prefix clients/typescript run --silent generate

# Runs the tests and accepts every changed snapshot; read the diff before committing it.
bless *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" INSTA_UPDATE=always cargo nextest run --workspace "$@"

# Random histories of writes, compared with a simple reference model of the memory.
histories count='10000': _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- histories --count "$1"

# Random histories of one user with three projects: nothing of one is in an answer about another.
project-histories count='1000':
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" LUKASA_PROJECT_HISTORIES="$1" cargo test --profile fast \
      -p lukasa-engine --test it random_histories_show_no_memory_of_another_project -- --nocapture

# Kills the server in the middle of writes and looks for lost or partial writes.
kills count='1000': _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- kills --count "$1"

# Two servers and a worker: what is removed through one is never served by the other.
nodes *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- nodes "$@"

# Measures latency and throughput under load; arguments are passed to the eval.
load *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- load "$@"

# Fills up to 50 million facts and measures at 1 %, 10 % and 100 %; --hours H, --disk-gb G; --model prints what users need.
growth *args: _server
    cargo run --profile fast -p lukasa-evals -- growth "$@"

# Crashes a process at every point of learning from a conversation; everything happens exactly once.
crashes *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- crashes "$@"

# A model that obeys every attacker; --data DIR adds the public collection of attacks.
hostile *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- hostile "$@"

# Attacks through every entry point for writes of a running server; --data DIR adds the public ones.
hostile-writes *args: _server
    cargo run --profile fast -p lukasa-evals -- hostile-writes "$@"

# Lukasa's own context blocks occur in conversations; nothing is learned from them.
relearn *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- relearn "$@"

# What the screens for secrets, sensitive content and instructions detect and miss.
screens *args:
    cargo run --profile fast -p lukasa-evals -- screens "$@"

# How well conversations are learned: --oracle for the rules alone, or --chat MODEL@URL --models DIR.
extraction *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- extraction "$@"

# Five conversations of one user: repetition, a changed job, a forgotten visit, a closed domain.
story *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- story "$@"

# Random histories of learning, deleting and undoing; removed data is removed everywhere.
reversible *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- reversible "$@"

# Consolidation runs: with --hostile under a lying model, else what a run costs.
consolidation *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- consolidation "$@"

# Planted contradictions are found, and an obedient model merges no two different memories.
contradictions *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- contradictions "$@"

# Markdown vaults of generated users, edited, synced, wiped and restored.
vault *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo run --profile fast -p lukasa-evals -- vault "$@"

# Reads mutated vaults; `--seconds 600` for the long form.
fuzz-vault *args:
    cargo run --profile fast -p lukasa-evals -- fuzz-vault "$@"

# Imports mutated exports; `--seconds 600` for the long form.
fuzz-archive *args:
    cargo run --profile fast -p lukasa-evals -- fuzz-archive "$@"

# Mutates imports, chat bodies and answers, OAuth requests and tokens; `--seconds 600 --http` for the long form.
fuzz-parsers *args: _server
    cargo run --profile fast -p lukasa-evals -- fuzz-parsers "$@"

# Moves users between three databases while they write, and stops databases: nothing lost, doubled or refused.
cells *args: _server
    cargo run --profile fast -p lukasa-evals -- cells "$@"

# Erases users under load and kills, and searches every file for their words.
erasure *args: _server
    cargo run --profile fast -p lukasa-evals -- erasure "$@"

# The model gateway beside a plain proxy, and with the database stopped; `--short` for CI.
gateway *args: _server
    cargo run --profile fast -p lukasa-evals -- gateway "$@"

# Everything the clients must pass, against the server that was just built.
clients: _server
    @url="$(scripts/postgres url)" && export DATABASE_URL="$url" LUKASA_BIN="$(just _binary)" && \
      LUKASA="$LUKASA_BIN" clients/mcp-check/run && LUKASA="$LUKASA_BIN" clients/oidc-check/run && \
      clients/typescript/run-tests && \
      clients/elements/run-tests && clients/python/run-tests

# The console: types, lint, unit tests, build and size, then a real browser; arguments choose its tests.
web *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" LUKASA_BIN="$(just _binary)" web/run-tests "$@"

# Checks deploy/, the workflows, that every download is pinned, and that documents name our packages only.
deploy:
    scripts/check-supply-chain
    scripts/check-install-lines
    packaging/test
    deploy/check

# The packages of this platform, into target/packages; `model` is the folder of the embedding model potion.
packages model: _server
    packaging/build "$(just _binary)" --model "$1"

# Installs every package on a clean Debian and recalls a memory, timed; `just try --here --only tar` needs no root.
try *args:
    packaging/try target/packages "$@"

# The container images of this platform, into target/images; `model` is the folder of the embedding model potion.
images model: _server
    packaging/containers build "$(just _binary)" --model "$1"

# Runs both images read-only and without rights: seconds, drain, restarts; needs root, crun and umoci.
try-images *args:
    @url="$(scripts/postgres url)" && packaging/containers test --database "$url" "$@"

# Restores a database to a point in time from a base backup and archived log, and compares the state hashes.
pitr *args: _server
    scripts/try-pitr "$(just _binary)" "$@"

# Kills the primary under load and promotes its synchronous standby, twenty times: nothing lost, nothing doubled.
failover *args: _server
    scripts/try-failover "$(just _binary)" "$@"

# Searches while the standby that indexes are loaded from is up to date, behind, silent, killed and promoted.
standby *args: _server
    scripts/try-standby "$(just _binary)" "$@"

# Replaces two servers of the program OLD by this version under load, and back: nothing failed, nothing lost.
upgrade old *args: _server
    scripts/try-upgrade "$1" "$(just _binary)" "${@:2}"

# Runs two servers through PgBouncer in transaction mode under load; faults in its setup must be noticed.
pgbouncer *args: _server
    scripts/try-pgbouncer "$(just _binary)" "$@"

# Prints the spans of one retrieval and of one learned conversation, as an OpenTelemetry collector gets them.
traces: _server
    scripts/show-traces "$(just _binary)"

# What metrics cost a server under load: recorded, and scraped every second.
metrics-cost *args: _server
    scripts/metrics-cost "$(just _binary)" "$@"

# The addresses that a server connects to, traced: nothing but what is configured. Needs strace.
outbound *args: _server
    scripts/try-outbound "$(just _binary)" "$@"

# Runs the shell commands of the documents on a throwaway server, and checks the guides; arguments are pages.
run-docs *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" scripts/run-docs "$(just _binary)" "$@"
    scripts/check-guides "$(just _binary)"

# Asks Prometheus every query of the Grafana dashboard, with the data of a server under load; `--show` prints them.
dashboard *args: _server
    deploy/try-dashboard "$(just _binary)" "$@"

# The first steps of a new user, timed: a first memory, and two assistants connected and disconnected.
journeys: _server
    scripts/journeys/first-memory "$(just _binary)"
    scripts/journeys/connect "$(just _binary)"

# Five user stories, played and printed; `--model URL` for a real model, `--only N` for one story.
stories *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" scripts/stories --server "$(just _binary)" "$@"

# Generated requests to every operation of openapi.json, no answer of 500 or above; `--long` for more.
schemathesis *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" scripts/schemathesis "$@" "$(just _binary)"

# What a request costs when one of its fields grows, for every field of openapi.json; `--long` for every pattern.
cost *args: _server
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" LUKASA_KEY_RATE=0 LUKASA_USER_RATE=0 LUKASA_TENANT_RATE=0 \
      LUKASA_IP_RATE=0 scripts/two-servers "$(just _binary)" scripts/request-cost "$@"

# The effect of one user's or tenant's overload on others.
overload *args: _server
    cargo run --profile fast -p lukasa-evals -- overload "$@"

_binary:
    @cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"] + "/fast/lukasa")'

# What recall costs beside a bare hybrid statement; needs --models DIR.
recall *args: _server
    cargo run --profile fast -p lukasa-evals -- recall "$@"

# The baseline is the same bytes within a session and at one point of both time axes.
freeze *args: _server
    cargo run --profile fast -p lukasa-evals -- freeze "$@"

# One user with 100,000 turns and 20,000 memories, beside another server with --beside FILE; needs --models DIR.
long-history *args: _server
    cargo run --profile fast -p lukasa-evals -- long-history "$@"

# What it costs to embed a sentence with each model of a folder: CPU and time, alone and in batches.
encoder *args:
    cargo run --profile fast -p lukasa-evals -- encoder "$@"

# Measures the recall of past turns and memories; arguments are passed to the eval.
retrieval *args: _server
    cargo run --profile fast -p lukasa-evals -- retrieval "$@"

# The tests that no user can reach another user's memory.
isolation *args:
    @url="$(scripts/postgres url)" && DATABASE_URL="$url" cargo nextest run -p lukasa-server isolation "$@"

# The evals start the server they find beside their own executable, so it is built with them.
_server:
    cargo build --profile fast --bin lukasa
