import type { Activity } from 'botbuilder'
import { isRecord } from './turn.ts'

/**
 * An activity as the Agents Playground can draw it: its renderer throws on buttons that type a command
 * (`msteams: { type: 'imBack' }`), so there they send the command as data instead. Teams gets them as they are.
 */
export function forPlayground(activity: Partial<Activity>): Partial<Activity> {
  const { attachments, value } = activity
  return {
    ...activity,
    ...(attachments && { attachments: attachments.map((one) => ({ ...one, content: sending(one.content) })) }),
    ...(activity.type === 'invokeResponse' && { value: sending(value) }),
  }
}

const sending = (card: unknown): unknown =>
  JSON.parse(JSON.stringify(card ?? null), (name, value: unknown) => {
    const typed = name === 'data' && isRecord(value) && isRecord(value['msteams']) ? value['msteams'] : undefined
    return typed?.['type'] === 'imBack' ? { types: typed['value'] } : value
  })
