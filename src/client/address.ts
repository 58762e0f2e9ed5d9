const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const onThisMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether an address is this computer's: only there http is let through. */
export const isLoopback = (address: string): boolean => onThisMachine.test(new URL(address).hostname)

/**
 * An address that tokens are sent below, without a slash at the end. Throws TypeError for what is no address, and for http to
 * another machine: tokens are never sent in the clear (RFC 6750 §5.3).
 */
export function rootOf(name: string, given: string): string {
  if (!URL.canParse(given)) throw new TypeError(`${name} is an address such as https://provisioning.contoso.com.`)
  const { protocol, hostname, username, password, search, hash, origin, pathname } = new URL(given)
  if (protocol !== 'https:' && !(protocol === 'http:' && onThisMachine.test(hostname)))
    throw new TypeError(`${name} begins with https://; http:// is for this machine only.`)
  if (username + password + search + hash !== '')
    throw new TypeError(`${name} has no user name, no password, no query and no fragment.`)
  return origin + pathname.replace(/\/+$/, '')
}

/** An id as part of a path or filter. Throws TypeError for what is no UUID, such as the reference REQ-1042. */
export function idOf(what: 'request' | 'template' | 'batch', given: string): string {
  if (uuid.test(given)) return given.toLowerCase()
  throw new TypeError(
    what === 'request'
      ? 'A request is named by its requestId, which is a UUID; REQ-1042 is what people call it.'
      : `A ${what} is named by its id, which is a UUID.`,
  )
}
