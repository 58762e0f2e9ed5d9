-- Former addresses and their last holders, only as digests with a key outside the store: no address and no id.
CREATE TABLE former_addresses (
  tenant_id uuid NOT NULL,
  address text NOT NULL,
  holder text NOT NULL,
  last_day date NOT NULL,
  PRIMARY KEY (tenant_id, address)
);
CREATE INDEX former_addresses_by_age ON former_addresses (tenant_id, last_day);

-- Created resources by address.
CREATE INDEX requests_by_alias ON requests (tenant_id, (body ->> 'alias'));
CREATE INDEX requests_by_address ON requests (tenant_id, (body ->> 'address'));
CREATE INDEX requests_by_alias_address ON requests (tenant_id, (body ->> 'aliasAddress'));
