-- Addresses that were in use, and who or what held them last: digests by a key outside of the store, and no address and no id.
CREATE TABLE former_addresses (
  tenant_id uuid NOT NULL,
  address text NOT NULL,
  holder text NOT NULL,
  last_day date NOT NULL,
  PRIMARY KEY (tenant_id, address)
);
CREATE INDEX former_addresses_by_age ON former_addresses (tenant_id, last_day);

-- What a request has created, by its address.
CREATE INDEX requests_by_alias ON requests (tenant_id, (body ->> 'alias'));
CREATE INDEX requests_by_address ON requests (tenant_id, (body ->> 'address'));
CREATE INDEX requests_by_alias_address ON requests (tenant_id, (body ->> 'aliasAddress'));
