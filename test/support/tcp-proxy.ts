import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What stands between a client and a server, and can be as bad as a network is. */
export interface TcpProxy {
  readonly port: number
  /** Connections that are open through it now. */
  readonly open: number
  /** Bytes of both directions arrive later, by so many milliseconds; 0 = as they come. */
  delay(milliseconds: number): void
  /** Cuts every open connection with a reset. New ones come through. */
  reset(): void
  /** Half-open: what is open stays open and nothing comes through any more; new connections are taken, and silent too. */
  hold(): void
  /** Only what is open now goes silent, for good, as when a firewall forgets it; new connections come through. */
  forget(): void
  /** New connections are refused, and those that are open are cut. */
  refuse(): Promise<void>
  /** As it should be. Connections that have been silent are cut, as bytes of theirs are lost. */
  heal(): Promise<void>
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  silent: boolean
}

/** Starts a proxy on a free loopback port before `host:port`. */
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
      // Who holds a half-open connection does not hear that the other side is gone.
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

/** One direction of a pair. What a silent one sends is read and lost: its sender sees no difference. */
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
