import type { Viewer } from '../../src/cards/index.ts'
import type { SimilarResources } from '../../src/core/index.ts'
import { dana, kim, omar, siteRoot, viewerOf } from './card-world.ts'

const viewer = viewerOf(kim)

interface Shown {
  readonly similar: SimilarResources
  readonly siteRoot: string
  readonly viewer: Viewer
}
/** A review without similar names. */
export const notSimilar: Shown = { siteRoot, viewer, similar: { resources: [], more: 0 } }

/** One site for each way to get access, and more. */
export const similarSites: Shown = {
  siteRoot,
  viewer,
  similar: {
    resources: [
      {
        kind: 'teamSite',
        displayName: 'Aurora',
        address: `${siteRoot}aurora`,
        access: 'ask',
        owners: [dana, omar],
      },
      {
        kind: 'teamSite',
        displayName: 'Aurora Launch',
        address: `${siteRoot}aurora-launch`,
        access: 'own',
        owners: [],
      },
      { displayName: 'Team Aurora', address: 'team-aurora@contoso.example', access: 'open', owners: [kim] },
    ],
    more: 4,
  },
}

/** A shared mailbox without a known owner. */
export const similarMailbox: Shown = {
  siteRoot,
  viewer,
  similar: {
    resources: [
      { kind: 'sharedMailbox', displayName: 'Info', address: 'info@contoso.example', access: 'ask', owners: [] },
    ],
    more: 0,
  },
}

/** Two rooms, which everybody may book. */
export const similarRooms: Shown = {
  siteRoot,
  viewer,
  similar: {
    resources: ['Aurora North', 'Aurora South'].map((displayName) => {
      const address = `room-${displayName.toLowerCase().replace(' ', '-')}@contoso.example`
      return { kind: 'roomMailbox', displayName, address, access: 'open', owners: [] }
    }),
    more: 0,
  },
}

/** Three resources and owners with this name, at addresses with this name or alias. */
export const similarNamed = (name: string, alias = name): Shown => ({
  siteRoot,
  viewer,
  similar: {
    resources: ([`${siteRoot}${alias}`, `${alias}@contoso.example`, alias] as const).map((address) => ({
      kind: 'teamSite',
      displayName: name,
      address,
      access: 'ask',
      owners: [dana, omar, kim].map((one) => ({ ...one, displayName: name })),
    })),
    more: 22,
  },
})
