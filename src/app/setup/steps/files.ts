import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fill } from '../../../client/command-line/terminal.ts'
import { jobId, starters, templateFromStarter } from '../../../core/index.ts'
import { clientIdIn, scopeOf } from '../registrations.ts'
import { writePrivate } from '../settings-file.ts'
import { type Change, defineStep, type Wanted } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }

interface TemplatesFound {
  /** Whether the file in the settings exists. */
  readonly isThere: boolean
}

/** The first templates, without which nobody can request anything. An existing file stays unchanged. */
export const templatesStep = defineStep<TemplatesFound, Change>({
  id: 'templates',
  group: 'files',
  roles: [],
  scope: '',
  async find({ settings }) {
    const path = settings.get('TEMPLATES_FILE')
    return { isThere: path !== undefined && existsSync(path) }
  },
  changes: ({ isThere }) => (isThere ? [] : [{ text: texts.templates.write, renews: true }]),
  async apply({ settings, tenantId, remark }) {
    const path = settings.get('TEMPLATES_FILE') ?? settings.beside('templates.json')
    // The ids are always the same, because the service adds templates with unknown ids.
    const templates = starters.map(({ kind }) => templateFromStarter({ kind, id: jobId('starter', tenantId, kind) }))
    if (!existsSync(path)) await writePrivate(path, `${JSON.stringify(templates, null, 2)}\n`)
    await settings.set({ TEMPLATES_FILE: path })
    remark(fill(texts.templates.written, { path, count: templates.length }))
  },
})

interface SettingsChange extends Change {
  /** Settings with a new value. */
  readonly values: Readonly<Record<string, string>>
}

/** The settings that need no call: known values and new keys. */
export const settingsStep = defineStep<undefined, SettingsChange>({
  id: 'settings',
  group: 'files',
  roles: [],
  scope: '',
  find: async () => undefined,
  changes(_, wanted) {
    const missing = Object.entries(wantedSettings(wanted)).filter(([name]) => !isSet(name, wanted))
    const keys = missing.filter(([, value]) => value === newKey)
    const others = missing.filter(([, value]) => value !== newKey)
    return [others, keys].flatMap((some, index) => {
      if (some.length === 0) return []
      const names = new Intl.ListFormat('en-GB').format(some.map(([name]) => name))
      const text = fill(index === 0 ? texts.settings.set : texts.settings.keys, { names })
      return [{ text, values: Object.fromEntries(some) }]
    })
  },
  async apply({ settings }, { values }) {
    const filled = Object.entries(values).map(([name, value]) => [name, value === newKey ? keyFor(name) : value])
    await settings.set(Object.fromEntries(filled))
  },
})

/** Placeholder for a key that is generated when it is written, so that each comparison has the same result. */
const newKey = ''
const keyFor = (name: string): string =>
  `${name === 'WEBHOOK_SECRET' ? 'whsec_' : ''}${randomBytes(32).toString('base64')}`

/**
 * Whether a setting has a usable value. A MODE other than production, for example from a trial, is replaced. So is another
 * cloud than the one that this run uses.
 */
function isSet(name: string, { settings, cloud }: Wanted): boolean {
  const value = settings[name]
  if (name === 'MODE') return value === 'production'
  return name === 'CLOUD' ? (value ?? 'public') === cloud : value !== undefined
}

function wantedSettings({ settings, tenantId, cloud, names }: Wanted): Record<string, string> {
  const scopes = { COLLAB_SCOPE: 'COLLAB_AUDIENCE', MAIL_SCOPE: 'MAIL_AUDIENCE' }
  const known = Object.entries(scopes).flatMap(([name, audience]) => {
    const id = clientIdIn(settings[audience])
    return id === undefined ? [] : [[name, scopeOf(id)]]
  })
  return {
    ...{ MODE: 'production', TENANT_ID: tenantId, MICROSOFT_APP_TENANT_ID: tenantId },
    ...{ MICROSOFT_APP_TYPE: 'SingleTenant', CLOUD: cloud },
    ...Object.fromEntries(known),
    ...(names.app !== undefined && { TEAMS_APP_NAME: names.app }),
    ...{ AUDIT_SECRET: newKey, EXPORT_SECRET: newKey, WEBHOOK_SECRET: newKey },
  }
}
