import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * Starts the single address of the replicas. Gives each connection to the next replica that accepts it. Cuts the
 * connections of a replica that dies, like any load balancer.
 */
export async function startBalancer(ports: readonly number[]) {
  let turn = 0
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('error', () => undefined)
    client.on('close', () => clients.delete(client))
    turn += 1
    offer(client, turn, ports.length)
  })
  function offer(client: Socket, index: number, left: number): void {
    if (left === 0) return void client.destroy()
    const replica = connect(ports[index % ports.length] ?? 0, '127.0.0.1')
    replica.once('connect', () => {
      replica.removeAllListeners('error')
      replica.on('error', () => client.destroy())
      client.pipe(replica)
      replica.pipe(client)
      client.on('close', () => replica.destroy())
      replica.on('close', () => client.destroy())
    })
    replica.once('error', () => offer(client, index + 1, left - 1))
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const client of clients) client.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
