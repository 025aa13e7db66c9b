module ackord/tests/compat/support/go

go 1.26.0
