import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCardAction } from '../define-card-action.ts'

/** Reads the file of the certificate again; the card becomes the health after it, with what came of it. */
export const readCertificateAsAdmin = defineCardAction({
  verb: 'admin.certificate',
  forAdmins: true,
  data: z.object({}),
  async handle({ provisioning, actor, viewer }) {
    const { reading, report } = await provisioning.admin.readCertificate(actor)
    return { card: cards.adminHealth(report, viewer, reading) }
  },
})
