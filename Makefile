# The targets that people expect; `make help` lists them.

GO       ?= go
FUZZTIME ?= 1m
ACCEPT   ?=
PROGRAM  ?=

.PHONY: build test bench fuzz golden grade cover clean help

build: ## build bin/tokenbucket, and bin/grade, which grades other programs
	$(GO) build -trimpath -o bin/tokenbucket .
	$(GO) build -trimpath -o bin/grade ./limiter/grade

test: ## run all tests
	$(GO) test ./...

bench: ## measure: commands a second, bytes a client
	$(GO) test -run '^$$' -bench . ./limiter/...

fuzz: ## look for faults with random input, FUZZTIME=1m for each target
	$(GO) test -run '^$$' -fuzz '^FuzzTake$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./limiter/interp
	$(GO) test -run '^$$' -fuzz '^FuzzInterpreter$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./limiter/interp

golden: ## run the golden files and show each difference; ACCEPT=NAME takes the answers to NAME.in as right
	@$(GO) test -count 1 -run '^TestGolden$$' . -accept '$(ACCEPT)'

grade: ## grade another program of the exercise: make grade PROGRAM='python3 solution.py'
	@$(GO) build -trimpath -o bin/grade ./limiter/grade
	@bin/grade $(PROGRAM)

cover: ## show the statements that no test reaches
	@mkdir -p bin
	$(GO) test -coverprofile bin/cover.out -coverpkg ./limiter/... ./limiter/...
	@$(GO) tool cover -func bin/cover.out | grep -v '100.0%$$' || echo 'all covered'

clean: ## remove what was built
	rm -rf bin

help: ## list the targets
	@sed -n 's/^\([a-z]*\): ## \(.*\)/\1	\2/p' Makefile | expand -t 10
