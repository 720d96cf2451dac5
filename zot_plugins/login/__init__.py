"""`/login` and `/logout`: keys that are typed, and logins of providers that say how (`ProviderSpec.oauth`).

Acts through `ctx` only, so that it works over RPC too. Must not know a provider, and never shows, logs or keeps a
secret but through `ctx.credentials`.
"""
