-- API keys that may sign. Callers use the key itself as the key of an HMAC, so what they signed can only be checked with the
-- key in clear: these have a sealed copy beside their hash. Keys made before have none.
alter table api_keys add column sealed_key bytea;
