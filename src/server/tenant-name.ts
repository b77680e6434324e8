/** A tenant's name is also the name of a folder and of a part of keys: it has no slash, and does not begin with a dot. */
export function assertTenantName(tenant: string): void {
  if (!TENANT_PATTERN.test(tenant)) throw new TypeError(`“${tenant}” is not a valid name of a tenant`)
}

export const TENANT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
