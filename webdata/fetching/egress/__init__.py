"""The egress guard: one rule for targets, and the connections and proxies that apply it."""
