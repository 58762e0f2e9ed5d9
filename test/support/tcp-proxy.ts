import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between a client and a server that simulates network faults. */
export interface TcpProxy {
  readonly port: number
  /** Number of open connections. */
  readonly open: number
  /** Delays the bytes of both directions by these milliseconds; 0 means no delay. */
  delay(milliseconds: number): void
  /** Cuts every open connection with a reset. New ones are accepted. */
  reset(): void
  /** Simulates half-open connections: open ones stay open without data; new ones are accepted without data. */
  hold(): void
  /** Silences the open connections permanently, like a firewall that forgets them. New ones work. */
  forget(): void
  /** Refuses new connections, and cuts open ones. */
  refuse(): Promise<void>
  /** Removes all faults. Cuts silent connections, because they have lost data. */
  heal(): Promise<void>
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  silent: boolean
}

/** Starts a proxy on a free loopback port in front of `host:port`. */
export async function startTcpProxy(port: number, host = '127.0.0.1'): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let delay = 0
  let holding = false
  const listener = createServer((client) => {
    const pair = { client, server: connect(port, host), silent: holding }
    pairs.add(pair)
    carry(pair, client, pair.server, () => delay)
    carry(pair, pair.server, client, () => delay)
    const end = () => {
      pairs.delete(pair)
      // The client of a half-open connection does not notice that the server has closed it.
      if (pair.silent) return
      client.destroy()
      pair.server.destroy()
    }
    for (const socket of [client, pair.server]) {
      socket.on('error', end)
      socket.on('close', end)
    }
  })
  const listen = async (on: number) => {
    await once(listener.listen(on, '127.0.0.1'), 'listening')
    return (listener.address() as AddressInfo).port
  }
  const own = await listen(0)
  const cut = (which: Iterable<Pair>) => {
    for (const { client, server } of [...which]) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
  }
  const stopListening = async () => {
    if (!listener.listening) return
    const closed = once(listener, 'close')
    listener.close()
    cut(pairs)
    await closed
  }
  return {
    port: own,
    get open() {
      return pairs.size
    },
    delay(milliseconds) {
      delay = milliseconds
    },
    reset: () => cut(pairs),
    hold() {
      holding = true
      for (const pair of pairs) pair.silent = true
    },
    forget() {
      for (const pair of pairs) pair.silent = true
    },
    refuse: stopListening,
    async heal() {
      delay = 0
      holding = false
      cut([...pairs].filter(({ silent }) => silent))
      if (!listener.listening) await listen(own)
    },
    close: stopListening,
  }
}

/** Forwards one direction of a pair. Data of a silent one is read and dropped: its sender notices no difference. */
function carry(pair: Pair, from: Socket, to: Socket, delay: () => number): void {
  from.on('data', (bytes) => {
    if (pair.silent) return
    const milliseconds = delay()
    if (milliseconds === 0) to.write(bytes)
    else setTimeout(() => !pair.silent && to.write(bytes), milliseconds)
  })
  from.on('end', () => {
    if (!pair.silent) to.end()
  })
}
