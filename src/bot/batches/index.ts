/** The card of a batch in the chat of its requester. */
import { z } from 'zod'
import { cardsFor } from '../../cards/index.ts'
import { isBatchOver } from '../../core/index.ts'
import { defineCardAction, pageStart } from '../define.ts'

/** Shows the present state of a batch, or another page of its rows. */
export const pageBatch = defineCardAction({
  verb: 'batch.page',
  data: z.object({ batchId: z.uuid(), from: pageStart }),
  async handle({ core, actor, viewer }, { batchId, from }) {
    const progress = await core.readBatchProgress(actor, { batchId })
    return { card: cardsFor(viewer).batch({ progress, isSummary: isBatchOver(progress), from }, viewer) }
  },
})

export const batchActions = [pageBatch]
