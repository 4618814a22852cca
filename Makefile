# A thin front: each target is one call of deploy/make.py, which needs nothing but Python 3.11 or newer.
PYTHON ?= python3
PORT ?= 8000
ARGS ?=

.PHONY: demo demo-reset setup test lint bench
demo:
	@$(PYTHON) deploy/make.py demo --port $(PORT)
demo-reset setup lint bench:
	@$(PYTHON) deploy/make.py $@
test:
	@$(PYTHON) deploy/make.py test $(ARGS)
