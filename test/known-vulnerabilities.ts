import '../src/private-umask.ts'
import { spawnSync } from 'node:child_process'
import { z } from 'zod'

/**
 * `npm run audit`: asks the configured registry which known vulnerabilities the packages in package-lock.json have.
 * Exits with 0 when none is high or critical, with 1 when one is, and with 2 when the registry does not answer: mirrors
 * often have no data, and a missing answer is not a pass.
 */
const report = z.object({
  metadata: z.object({ vulnerabilities: z.record(z.string(), z.number()) }),
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string(), range: z.string() })),
})
const failure = z.object({ message: z.string().default('It did not answer.') })

const audit = spawnSync('npm', ['audit', '--json', '--package-lock-only', '--audit-level=high'], {
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

const answer = parsed(audit.stdout)
const parsedReport = report.safeParse(answer)
if (parsedReport.success) {
  const { metadata, vulnerabilities } = parsedReport.data
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity))
  for (const [name, { severity, range }] of grave) console.log(`${name} ${range}: ${severity}`)
  console.log(
    grave.length === 0
      ? `No known vulnerability is high or critical. All known ones: ${JSON.stringify(metadata.vulnerabilities)}`
      : `${grave.length} packages have known vulnerabilities that are high or critical. npm audit shows details.`,
  )
  process.exitCode = grave.length === 0 ? 0 : 1
} else {
  const why = failure.safeParse(answer)
  console.error(`Known vulnerabilities could not be checked: ${why.success ? why.data.message : 'no answer'}`)
  console.error('Use a registry with vulnerability data: npm run audit --registry=https://registry.npmjs.org/')
  process.exitCode = 2
}
