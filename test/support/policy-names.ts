import { type Ports, type Profile, type Settings, type Template, templateWithin } from '../../src/core/index.ts'
import { namesFor } from '../../src/core/naming/names.ts'
import { kim, projectSite, tenantId } from './card-world.ts'
import { actorOf } from './core.ts'
import { loud } from './loud.ts'

const requestId = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42'
const answers = { costCentre: '4711', project: 'Größe & Maß' }

/** Returns a template with these names; undefined when they are refused. */
export function written(kind: Template['kind'], naming: object): Template | undefined {
  const fields = Object.keys(answers).map((key) => ({ key, type: 'text', label: key }))
  return templateWithin([]).safeParse({ ...projectSite, kind, naming, fields, labels: {}, approval: null, limits: {} })
    .data
}

/** Derives names without a service: without other requests, in a directory with the given answers. */
export async function names(
  template: Template,
  typed: { displayName: string; address: string },
  profile: Profile = {},
) {
  let last = 41
  const ports = loud('ports', {
    clock: { now: () => new Date('2027-03-01T09:00:00Z') },
    directory: { profile: async () => profile },
    nameCounters: { last: async () => last, next: async () => ++last },
  }) as Ports
  const inquiry = { ports, actor: actorOf(kim), requestId, replaces: undefined, isSubmission: true, crowded: false }
  return namesFor(
    { ...inquiry, settings: loud('settings', { tenantId }) as Settings },
    template,
    typed,
    { metadata: answers },
    async () => 'free',
  )
}
