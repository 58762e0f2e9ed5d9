import '../src/private-umask.ts'
import { spawnSync } from 'node:child_process'
import { z } from 'zod'

/**
 * `npm run audit`: asks the registry in use what is known of the packages in package-lock.json. Ends with 0 when nothing is
 * known that is high or critical, with 1 when something is, and with 2 when the registry does not tell: mirrors often have
 * no answer, and no answer is no pass.
 */
const report = z.object({
  metadata: z.object({ vulnerabilities: z.record(z.string(), z.number()) }),
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string(), range: z.string() })),
})
const notTold = z.object({ message: z.string().default('It did not answer.') })

const asked = spawnSync('npm', ['audit', '--json', '--package-lock-only', '--audit-level=high'], {
  encoding: 'utf8',
  timeout: 100_000,
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const answer = parsed(asked.stdout)
const told = report.safeParse(answer)
if (told.success) {
  const { metadata, vulnerabilities } = told.data
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity))
  for (const [name, { severity, range }] of grave) console.log(`${name} ${range}: ${severity}`)
  console.log(
    grave.length === 0
      ? `No known vulnerability is high or critical; all known: ${JSON.stringify(metadata.vulnerabilities)}`
      : `${grave.length} packages have known vulnerabilities that are high or critical. npm audit tells more.`,
  )
  process.exitCode = grave.length === 0 ? 0 : 1
} else {
  const why = notTold.safeParse(answer)
  console.error(`Known vulnerabilities could not be known: ${why.success ? why.data.message : 'no answer'}`)
  console.error('Ask a registry that tells: npm run audit --registry=https://registry.npmjs.org/')
  process.exitCode = 2
}
