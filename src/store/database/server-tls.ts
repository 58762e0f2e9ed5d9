import pg from 'pg'

/** How `pg` would reach a server: what it makes of the address, its query parameters and PGHOST, PGSSLMODE and others. */
export interface ServerRoute {
  readonly host: string
  /** Through a Unix socket, so not over a network. */
  readonly isSocket: boolean
  /** The connection is encrypted, and the server's certificate and host name are checked. */
  readonly isVerified: boolean
}

/**
 * Reads an address the way `pg` does, without connecting. Throws in words when `pg` cannot read it or a file that it names.
 *
 * Only a literal `sslmode=verify-full` counts as verified: `pg` 8 treats `require`, `prefer` and `verify-ca` alike, but pg 9
 * and PostgreSQL's own tools check less with them (https://www.postgresql.org/docs/current/libpq-ssl.html).
 */
export function routeOf(databaseUrl: string): ServerRoute {
  const { host, ssl } = readAs(databaseUrl)
  const modes = new URL(databaseUrl).searchParams.getAll('sslmode')
  const isChecked =
    ssl !== null && typeof ssl === 'object' && !('rejectUnauthorized' in ssl) && !('checkServerIdentity' in ssl)
  return {
    host,
    isSocket: host.startsWith('/'),
    isVerified: isChecked && modes.length > 0 && modes.every((mode) => mode === 'verify-full'),
  }
}

function readAs(connectionString: string): { host: string; ssl: unknown } {
  try {
    const { host, ssl }: { host: string; ssl: unknown } = new pg.Client({ connectionString })
    return { host, ssl }
  } catch (error) {
    const { code, path } = Object(error)
    if (path === undefined) throw new Error('DATABASE_URL cannot be read as the address of a PostgreSQL server.')
    const remedy = path === 'system' ? ' Without sslrootcert the public authorities of Node are trusted.' : ''
    throw new Error(`DATABASE_URL names the file ${path}, which cannot be read (${code}).${remedy}`)
  }
}

/** Says which certificate was refused, why, and what to change; an error of any other kind stays as it is. */
export function explainRefusal(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const { host } = routeOf(databaseUrl)
  const explained = (text: string) => new Error(text, { cause: error })
  if (error.message === 'The server does not support SSL connections')
    return explained(
      `The PostgreSQL server ${host} does not accept TLS, which its address (DATABASE_URL) requires: set ssl = on at the server.`,
    )
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = Object(Reflect.get(error, 'cert')).subjectaltname ?? 'no name'
    return explained(
      `The certificate of the PostgreSQL server is for another host than ${host} (it names ${names}): write a name of the certificate into its address (DATABASE_URL).`,
    )
  }
  if (code === 'CERT_HAS_EXPIRED')
    return explained(`The certificate of the PostgreSQL server ${host} has expired: renew it at the server.`)
  if (/CERT|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$/.test(code))
    return explained(
      `The certificate of the PostgreSQL server ${host} is not trusted (${error.message}): set sslrootcert in its address (DATABASE_URL) to the file of the authority that issued it.`,
    )
  return error
}
