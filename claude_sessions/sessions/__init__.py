"""The pool: sessions, their queues, their clocks."""
