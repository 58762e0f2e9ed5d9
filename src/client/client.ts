import { createSendCall, type Fetch, idOf, realTiming, rootOf, type SendCall, type Timing } from './call.ts'
import {
  findPerson,
  findProvisionedGroup,
  findUserId,
  type GroupWaitOptions,
  waitForProvisionedGroup,
} from './directory.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type {
  Accepted,
  AcceptedMailbox,
  AnyTemplate,
  Batch,
  BatchRow,
  BatchRowFilter,
  BatchTrial,
  CallOptions,
  Explanation,
  FoundPerson,
  MailboxRequest,
  NewBatch,
  Page,
  Preview,
  PreviewOptions,
  ProvisionedGroup,
  ProvisioningRequest,
  RequestFilter,
  SiteRequest,
  TimelineEntry,
  TokenResource,
  WebhookTestResult,
  WriteOptions,
} from './types.ts'
import { type WaitOptions, waitForRequest } from './wait.ts'

export interface ClientOptions {
  readonly baseUrl: string
  /** `{directory_url}`: only needed to look up provisioned groups and people. */
  readonly directoryUrl?: string
  /**
   * Returns an access token, if possible from a cache: it is called before every attempt. `/docs` of the service shows
   * the scopes of `collab` and `mail`; `directory` is a scope that reads groups.
   */
  readonly token: (resource: TokenResource) => Promise<string>
  /** The token for calls that accept both tokens: reads and decisions. `collab` by default. */
  readonly eitherToken?: 'collab' | 'mail'
  /** `globalThis.fetch` by default. */
  readonly fetch?: Fetch
  /** How often a failed call is repeated: 4 by default; 0 means never. */
  readonly retries?: number
  /** How long one attempt may take, in seconds: 30 by default. */
  readonly timeoutSeconds?: number
  /** The extension that carries the request id on groups of the directory: `svc_group` by default. */
  readonly directoryExtension?: string
  /** Only tests replace the real time. */
  readonly timing?: Timing
}

export interface DecisionOptions extends WriteOptions {
  readonly comment?: string
  /** The stage to decide, from 1. With it, a repeat without a key cannot decide the next stage. */
  readonly stage?: number
}
export interface RejectionOptions extends DecisionOptions {
  readonly comment: string
}
export interface ReassignOptions extends WriteOptions {
  /** User id of the new approver. */
  readonly to: string
  /** User id of the approver to replace; required if several approvers have not decided. */
  readonly from?: string
  readonly comment?: string
}
export interface AddressOptions extends WriteOptions {
  /** The alias of a site, or the mail address of a mailbox. An empty text removes an additional address. */
  readonly address: string
}
export type EndingOptions = Omit<DecisionOptions, 'stage'>

/** A client of the service. Clients share no state. Failed calls throw a QuartermasterError. */
export type Client = ReturnType<typeof createClient>

/** Creates a client of one service, for the person or application of its tokens. */
export function createClient(options: ClientOptions) {
  const { timing = realTiming, eitherToken = 'collab', directoryExtension: extension = 'svc_group' } = options
  const root = rootOf('baseUrl', options.baseUrl)
  const directoryRoot = options.directoryUrl === undefined ? undefined : rootOf('directoryUrl', options.directoryUrl)
  if (!/^\w+$/.test(extension))
    throw new TypeError('directoryExtension must have only letters, digits and underscores.')
  const send = createSendCall({
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    token: options.token,
    retries: options.retries ?? 4,
    timeoutSeconds: options.timeoutSeconds ?? 30,
    timing,
  })

  const readWrite = createReadWrite(send, root, eitherToken)
  const { read, inquire, write } = readWrite
  const ofRequest = (requestId: string, rest = '') => `/requests/v1/${idOf('request', requestId)}${rest}`
  const decide =
    (verb: string) =>
    async (requestId: string, { comment, stage, ...options }: DecisionOptions = {}): Promise<ProvisioningRequest> =>
      write(ofRequest(requestId, `/${verb}`), eitherToken, { comment, stage }, options)
  const end: (verb: string) => (requestId: string, options?: EndingOptions) => Promise<ProvisioningRequest> = decide
  const directory = () => {
    if (directoryRoot === undefined) throw new TypeError('Set directoryUrl to look up groups and people.')
    return { send, root: directoryRoot, extension }
  }
  const listRequests = (filter: RequestFilter = {}, options: CallOptions = {}) =>
    read<Page<ProvisioningRequest>>('/requests/v1/', ['value'], options, { ...filter })

  return {
    /** Requests a mailbox. The service queues it: wait for the request, or subscribe to the template's webhook. */
    createMailbox: (body: MailboxRequest, options: WriteOptions = {}): Promise<AcceptedMailbox> =>
      write('/mail/v1/mailboxes/', 'mail', body, options),
    /** Requests a site. The service queues it: wait for the request or its group, or subscribe to the webhook. */
    createSite: (body: SiteRequest, options: WriteOptions = {}): Promise<Accepted> =>
      write('/collab/v1/spo/', 'collab', body, options),

    getRequest: async (requestId: string, options: CallOptions = {}): Promise<ProvisioningRequest> =>
      read(ofRequest(requestId), ['requestId', 'status'], options),
    /** Returns one page, newest first. */
    listRequests,
    /** Returns all pages, one request after the other: `for await (const request of client.allRequests())`. */
    allRequests: (filter: Omit<RequestFilter, 'cursor'> = {}, options: CallOptions = {}) =>
      eachOf((cursor) => listRequests({ limit: 100, ...filter, cursor }, options)),
    /**
     * Waits until a request has ended or failed, and returns it. The service holds its answers while nothing changes;
     * otherwise this polls after 20 s and then every 10 s.
     */
    waitForRequest: (requestId: string, options: WaitOptions = {}): Promise<ProvisioningRequest> =>
      waitForRequest({ send, root, resource: eitherToken, timing }, requestId, options),
    /** Returns a preview of a creation, with its faults. Nothing is stored. */
    preview: async (body: SiteRequest | MailboxRequest, { as, ...options }: PreviewOptions = {}): Promise<Preview> =>
      inquire('/requests/v1/preview', ['valid', 'errors'], body, options, { query: { as } }),
    ...createBatches(readWrite, timing),

    /** Returns the timeline of a request: actions, people, times and comments; oldest first. */
    timeline: async (requestId: string, options: CallOptions = {}): Promise<readonly TimelineEntry[]> =>
      (await read<Page<TimelineEntry>>(ofRequest(requestId, '/timeline'), ['value'], options)).value,
    /** Explains the approvers, the name and the duration of a request. */
    explanation: async (requestId: string, options: CallOptions = {}): Promise<readonly Explanation[]> =>
      (await read<Page<Explanation>>(ofRequest(requestId, '/explanation'), ['value'], options)).value,

    approve: decide('approve'),
    reject: (requestId: string, options: RejectionOptions): Promise<ProvisioningRequest> =>
      decide('reject')(requestId, options),
    cancel: end('cancel'),
    /** Retries a failed request from the failed step. For admins. */
    retry: end('retry'),
    /** Reminds the approvers who have not decided, at most once a day. */
    nudge: async (requestId: string, options: WriteOptions = {}): Promise<ProvisioningRequest> =>
      write(ofRequest(requestId, '/nudge'), eitherToken, {}, options),
    /** Replaces the address that another resource has taken (`addressConflict`). For the requester. */
    changeAddress: async (requestId: string, { address, ...options }: AddressOptions): Promise<ProvisioningRequest> =>
      write(ofRequest(requestId, '/address'), eitherToken, { address }, options),
    /** Reassigns the decision of an approver to another person. For this approver and for admins. */
    reassign: async (
      requestId: string,
      { to, from, comment, ...options }: ReassignOptions,
    ): Promise<ProvisioningRequest> =>
      write(ofRequest(requestId, '/reassign'), eitherToken, { to, from, comment }, options),

    /** Returns the templates that the caller may use. */
    templates: async (options: CallOptions = {}): Promise<readonly AnyTemplate[]> =>
      (await read<Page<AnyTemplate>>('/templates/v1/', ['value'], options)).value,
    template: async (templateId: string, options: CallOptions = {}): Promise<AnyTemplate> =>
      read(`/templates/v1/${idOf('template', templateId)}`, ['id', 'kind'], options),
    /** Sends one signed `webhook.test` to the receiver of a template, and returns the result. For admins. */
    testWebhook: async (templateId: string, options: CallOptions = {}): Promise<WebhookTestResult> =>
      inquire(
        `/templates/v1/${idOf('template', templateId)}/webhook/test`,
        ['delivered', 'status'],
        undefined,
        options,
      ),

    /** Sends all waiting deliveries of a template now, and returns their number. For admins. */
    sendWaitingWebhooks: async (templateId: string, options: CallOptions = {}): Promise<{ readonly sent: number }> =>
      inquire(`/templates/v1/${idOf('template', templateId)}/webhook/send-waiting`, ['sent'], undefined, options),

    /** Returns the user id of a sign-in name; undefined for an unknown name. */
    findUserId: async (signInName: string, options: CallOptions = {}): Promise<string | undefined> =>
      findUserId(directory(), signInName, options),
    /** Returns the names of a person by user id or sign-in name; undefined for an unknown person. */
    findPerson: async (idOrName: string, options: CallOptions = {}): Promise<FoundPerson | undefined> =>
      findPerson(directory(), idOrName, options),
    /** Looks up the group of a provisioned site once; undefined if the directory does not have it. */
    findProvisionedGroup: async (requestId: string, options: CallOptions = {}): Promise<ProvisionedGroup | undefined> =>
      findProvisionedGroup(directory(), requestId, options),
    /** Polls after 20 s, then every 10 s for 30 s (API document, "Limits"); undefined if the group is still missing. */
    waitForProvisionedGroup: async (
      requestId: string,
      options: GroupWaitOptions = {},
    ): Promise<ProvisionedGroup | undefined> => waitForProvisionedGroup(directory(), timing, requestId, options),
  }
}

async function* eachOf<T>(page: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined
  for (;;) {
    const { value, nextCursor } = await page(cursor)
    yield* value
    if (nextCursor === undefined) return
    if (nextCursor === cursor) {
      const about = { method: 'GET', path: '/requests/v1/' } as const
      throw new UnexpectedAnswerError('a page that leads to itself', 200, about)
    }
    cursor = nextCursor
  }
}

export interface BatchWaitOptions extends CallOptions {
  /** Called with the batch after each poll. */
  readonly onPoll?: (batch: Batch) => void | Promise<void>
  /** Ends the wait; {@link isBatchOver} by default. */
  readonly until?: (batch: Batch) => boolean
}

/** Pauses between polls grow from the first to the slowest. Milliseconds. */
const pollPauses = { first: 1000, slower: 1.2, slowest: 10_000 } as const
/** A dry run checks all rows before it answers. Seconds. */
const trialSeconds = 120

/**
 * Whether a batch changes no more without people: all rows were submitted, and their requests have ended or wait for
 * approval.
 */
export const isBatchOver = ({ status, requests: { queued = 0, provisioning = 0 } }: Batch): boolean =>
  status !== 'running' && queued + provisioning === 0

/** Calls for many requests at once. */
function createBatches({ read, inquire, write }: ReadWrite, timing: Timing) {
  const tokenOf = ({ resource }: Pick<NewBatch, 'resource'>): TokenResource =>
    resource === 'mailbox' ? 'mail' : 'collab'
  const at = (batchId: string, rest = '') => `/batches/v1/${idOf('batch', batchId)}${rest}`
  const fields = ['batchId', 'status', 'rows']
  const getBatch = async (batchId: string, options: CallOptions = {}): Promise<Batch> =>
    read(at(batchId), fields, options)
  const batchRows = async (batchId: string, filter: BatchRowFilter = {}, options: CallOptions = {}) =>
    read<Page<BatchRow>>(at(batchId, '/rows'), ['value'], options, { ...filter })
  return {
    /** Checks each row as if the rows before it existed. Nothing is stored. */
    tryBatch: (batch: NewBatch, options: CallOptions = {}): Promise<BatchTrial> =>
      inquire('/requests/v1/batch', ['valid', 'rows'], { ...batch, dryRun: true }, options, {
        resource: tokenOf(batch),
        seconds: trialSeconds,
      }),
    /**
     * Requests many resources at once. The service submits the rows one after the other within the rate limits, and a
     * refused row does not stop the others. A repeat with the same Idempotency-Key returns the same batch, so use your
     * own key to repeat the call after a crash.
     */
    createBatch: (batch: NewBatch, options: WriteOptions = {}): Promise<Batch> =>
      write('/requests/v1/batch', tokenOf(batch), batch, options, fields),
    getBatch,
    /** Returns one page of the results of its rows, in their order. */
    batchRows,
    /** Returns all rows: `for await (const row of client.allBatchRows(batchId))`. */
    allBatchRows: (batchId: string, filter: Omit<BatchRowFilter, 'cursor'> = {}, options: CallOptions = {}) =>
      eachOf((cursor) => batchRows(batchId, { limit: 100, ...filter, cursor }, options)),
    /** Cancels the remaining rows. Submitted requests continue, and can be cancelled one by one. */
    cancelBatch: (batchId: string, options: WriteOptions = {}): Promise<Batch> =>
      write(at(batchId, '/cancel'), 'either', undefined, options, fields),
    /** Waits until each row was submitted and its request has ended or waits for an approval. */
    async waitForBatch(
      batchId: string,
      { signal, onPoll, until = isBatchOver }: BatchWaitOptions = {},
    ): Promise<Batch> {
      for (let pause: number = pollPauses.first; ; pause = Math.min(pollPauses.slowest, pause * pollPauses.slower)) {
        const batch = await getBatch(batchId, { signal })
        await onPoll?.(batch)
        if (until(batch)) return batch
        await timing.sleep(pause, signal)
      }
    },
  }
}

/** Options of a call: `resource` if only one API's token is accepted; `seconds`: how much longer it may take than others. */
interface How {
  readonly query?: Query
  readonly resource?: TokenResource
  readonly seconds?: number
}
type Query = Readonly<Record<string, string | number | undefined>>

type ReadWrite = ReturnType<typeof createReadWrite>

/** Reads and writes below the service's address. An answer is a `T` if it has all of `fields`. */
function createReadWrite(send: SendCall, root: string, eitherToken: 'collab' | 'mail') {
  return {
    async read<T>(path: string, fields: readonly string[], { signal }: CallOptions, query: Query = {}): Promise<T> {
      const about = { method: 'GET', path, ...requestIn(path) } as const
      const { body } = await send({ about, url: root + path + searchOf(query), resource: eitherToken, fields, signal })
      return body as T
    },
    /** A POST that changes nothing, so it needs no key to be repeated. */
    async inquire<T>(
      path: string,
      fields: readonly string[],
      body: unknown,
      { signal }: CallOptions,
      { query = {}, resource = eitherToken, seconds: heldSeconds = 0 }: How = {},
    ): Promise<T> {
      const about = { method: 'POST', path } as const
      const url = root + path + searchOf(query)
      return (await send({ about, url, resource, body, fields, signal, heldSeconds })).body as T
    },
    async write<T>(
      path: string,
      whose: TokenResource | 'either',
      body: unknown,
      options: WriteOptions,
      fields: readonly string[] = ['requestId', 'status'],
    ): Promise<T> {
      const resource = whose === 'either' ? eitherToken : whose
      const { signal, idempotencyKey = globalThis.crypto.randomUUID() } = options
      if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
        throw new TypeError('An Idempotency-Key must have 1 to 255 printable ASCII characters.')
      const about = { method: 'POST', path, idempotencyKey, ...requestIn(path) } as const
      return (await send({ about, url: root + path, resource, body, fields, signal })).body as T
    },
  }
}

function requestIn(path: string): { requestId?: string } {
  const requestId = /^\/requests\/v1\/([0-9a-f-]{36})/.exec(path)?.[1]
  return requestId === undefined ? {} : { requestId }
}

function searchOf(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
