import { z } from 'zod'

/** What the document is: OpenAPI 3.1.1. Its form is tested with a validator. */
export const openApiBody = z.looseObject({ openapi: z.literal('3.1.1') })
export type OpenApi = z.output<typeof openApiBody>
