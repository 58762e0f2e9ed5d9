import { z } from 'zod'

/** Which part of a list is asked for (DESIGN §5, "Lists"): how many, and the `nextCursor` of the page before. */
export const paging = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, { error: 'a whole number from 1 to 100' })
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(25),
  cursor: z.string().min(1).max(200).optional(),
}

/** A page of a list; `nextCursor` is there when there are more. */
export const listOf = <S extends z.ZodType>(entry: S) =>
  z.strictObject({ value: z.array(entry), nextCursor: z.string().optional() })
