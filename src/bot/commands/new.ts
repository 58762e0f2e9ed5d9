import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { siteKinds, type Template } from '../../core/index.ts'
import { defineCommand } from '../define-command.ts'
import { showStep } from '../dialog-steps.ts'
import type { Reply, Turn } from '../turn.ts'

const siteTemplates = async (turn: Turn): Promise<Template[]> => {
  const kinds: readonly string[] = siteKinds
  return (await turn.provisioning.templates.usable(turn.actor)).filter(({ kind }) => kinds.includes(kind))
}

/** `new`, and `new <part of a template's name>`. */
export const newCommand = defineCommand({
  words: 'new',
  also: ['new request'],
  argument: z.string().max(64),
  async handle(turn, part) {
    const all = await siteTemplates(turn)
    const named = all.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()))
    // A part that no name has gets all there is, so nobody is told that there is nothing.
    return choose(turn, named.length > 0 ? named : all)
  },
  otherwise: async (turn) => choose(turn, await siteTemplates(turn)),
})

/** `new site`. */
export const newSiteCommand = defineCommand({
  words: 'new site',
  also: ['site'],
  menu: 1,
  argument: z.string(),
  handle: async (turn) => choose(turn, await siteTemplates(turn)),
  otherwise: async (turn) => choose(turn, await siteTemplates(turn)),
})

/** A single template opens at once; among several the person chooses. */
async function choose(turn: Turn, templates: readonly Template[]): Promise<Reply> {
  const [only, ...more] = templates
  if (only && more.length === 0) return showStep(await turn.provisioning.drafts.open(turn.actor, only.id), turn)
  if (!only) return { card: cards.notice({ code: 'noTemplates' }, turn.viewer) }
  return showStep({ step: 'choose', templates }, turn)
}
