import { requestFormCard, requestFormView } from '../../src/cards/drafts/form-view.ts'
import { chooseTemplateCard, chooseTemplateView } from '../../src/cards/templates/choose-template.ts'
import { defaultsOf } from '../../src/core/drafts/form-values.ts'
import { previewNames } from '../../src/core/drafts/name-preview.ts'
import { type Ports, type Settings, type Template, template } from '../../src/core/index.ts'
import catalogue from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { requestForm } from './card-forms.ts'
import { draftOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { kim, mailDomain, siteRoot, tenantId } from './card-world.ts'
import { loud } from './loud.ts'

/** Creates the sample templates as employees see them: the choice between them, then the empty form of each. */
export async function templateSamples(): Promise<readonly Sample[]> {
  const all = catalogue.map((one) => template.parse(one))
  const choices = all.map((one) => ({ ...one, approvalRequired: one.approval !== null }))
  const forms = all.map(async (one) => {
    const draft = draftOf(defaultsOf(one))
    const view = requestFormView(requestForm({ template: one, draft, names: await namesOf(one) }))
    return sample(one.name.toLowerCase().replaceAll(' ', '-'), requestFormCard, () => view)
  })
  return [sample('', chooseTemplateCard, () => chooseTemplateView(choices)), ...(await Promise.all(forms))]
}

/** Returns the sketch of the names in an empty form for Kim, who works in Zürich. */
async function namesOf(one: Template) {
  const ports = loud('ports', {
    clock: { now: () => new Date('2026-11-20T09:00:00Z') },
    directory: {
      profile: async () => ({ department: 'Digital Workplace', city: 'Zürich', country: 'CH' }),
      mailDomains: async () => ({ default: mailDomain, accepted: [mailDomain] }),
    },
    nameCounters: { last: async () => 0 },
    tenant: { siteRoot },
  }) as Ports
  const { requestId } = draftOf({})
  const actor = { ...kim, tenantId, isAdmin: false }
  const inquiry = { ports, actor, requestId, replaces: undefined, isSubmission: false, crowded: false }
  const { preview } = await previewNames(
    { ...inquiry, settings: loud('settings', { tenantId }) as Settings },
    one,
    defaultsOf(one),
    {
      isChecked: false,
    },
  )
  return preview
}
