import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { freePort } from '../../src/app/free-port.ts'
import { startSimulator } from '../../src/simulator/index.ts'
import { newAuthority } from './certificates.ts'

/** Starts the simulated tenant behind a TLS address, as production requires. */
export async function tenantWithTls(folder: string) {
  const authority = newAuthority('Contoso authority')
  const trusted = join(folder, 'authority.pem')
  writeFileSync(trusted, authority.certificate)
  const { key, certificate } = authority.issue(['127.0.0.1'])
  const port = await freePort()
  const door = createServer({ key, cert: certificate }, (socket) => {
    const inner = connect(port, '127.0.0.1')
    for (const end of [socket, inner]) end.on('error', () => [socket, inner].map((one) => one.destroy()))
    socket.pipe(inner).pipe(socket)
  })
  await new Promise<void>((listening) => door.listen(0, '127.0.0.1', listening))
  const url = `https://127.0.0.1:${(door.address() as AddressInfo).port}`
  const simulator = await startSimulator({ dataDir: folder, port, publicUrl: url, directorySeconds: 0 })
  return {
    url,
    trusted,
    controlUrl: `http://127.0.0.1:${port}`,
    tenantId: simulator.tenantId,
    close: async () => {
      await simulator.close()
      door.close()
    },
  }
}
