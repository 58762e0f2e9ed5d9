import type { Service } from './service.ts'
import { until } from './until.ts'

/** Waits until no job with one of these names runs or is due. */
export async function jobsDone(service: Service, ...names: string[]): Promise<void> {
  await until(
    async () => {
      const counts = (await service.app.queue.counts()).filter(({ name }) => names.includes(name))
      return counts.every(({ waiting, active }) => waiting + active === 0) || undefined
    },
    `the end of ${names.join(' and ')}`,
  )
}

/** Waits until all cards are sent and updated. */
export const allSent = (service: Service): Promise<void> =>
  jobsDone(service, 'notify', 'notify-admins', 'tell', 'catch-up', 'refresh-cards')
