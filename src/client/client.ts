import { idOf, rootOf } from './address.ts'
import { createBatches } from './batches.ts'
import { createSendCall, type Fetch } from './call.ts'
import { findProvisionedGroup, findUserId, type GroupWaitOptions, waitForProvisionedGroup } from './directory.ts'
import { UnexpectedAnswerError } from './errors.ts'
import { createReadWrite } from './read-write.ts'
import { realTiming, type Timing } from './timing.ts'
import type {
  Accepted,
  AnyTemplate,
  CallOptions,
  Explanation,
  MailboxRequest,
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

/** What a client is made of. */
export interface ClientOptions {
  /** `{base_url}` of the API document. */
  readonly baseUrl: string
  /** `{directory_url}`: needed to look for provisioned groups, and for nothing else. */
  readonly directoryUrl?: string
  /**
   * Gives an access token, from a cache when it can: it is asked before every attempt. `/docs` of the service shows the
   * scopes of `collab` and `mail`; `directory` is one that reads groups.
   */
  readonly token: (resource: TokenResource) => Promise<string>
  /** Whose token reads requests and templates, and decides: the service takes either. `collab` unless given. */
  readonly eitherToken?: 'collab' | 'mail'
  /** `globalThis.fetch` unless given. */
  readonly fetch?: Fetch
  /** How often a call that failed for the moment is sent again: 4 unless given; 0 = never. */
  readonly retries?: number
  /** How long one attempt may take, in seconds: 30 unless given. */
  readonly timeoutSeconds?: number
  /** The extension that carries the request id on groups of the directory: `svc_group` unless given. */
  readonly directoryExtension?: string
  /** Only tests set another time than the real one. */
  readonly timing?: Timing
}

/** A decision, and why. */
export interface DecisionOptions extends WriteOptions {
  /** The requester reads it. */
  readonly comment?: string
  /** The stage that is decided, from 1: with it a call that is repeated without its key decides no other one. */
  readonly stage?: number
}
export interface RejectionOptions extends DecisionOptions {
  readonly comment: string
}
export type EndingOptions = Omit<DecisionOptions, 'stage'>

/** The service, as a program uses it. Nothing is shared between two clients. Every call throws a QuartermasterError. */
export type Client = ReturnType<typeof createClient>

/** A client of one service, for one person or application: whose tokens `token` gives. */
export function createClient(options: ClientOptions) {
  const { timing = realTiming, eitherToken = 'collab', directoryExtension: extension = 'svc_group' } = options
  const root = rootOf('baseUrl', options.baseUrl)
  const directoryRoot = options.directoryUrl === undefined ? undefined : rootOf('directoryUrl', options.directoryUrl)
  if (!/^\w+$/.test(extension)) throw new TypeError('directoryExtension is a name of letters, digits and underscores.')
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
  const decide = (verb: string) => async (requestId: string, given: DecisionOptions) =>
    write<ProvisioningRequest>(ofRequest(requestId, `/${verb}`), eitherToken, decisionIn(given), given)
  const [approve, reject, cancel, retry] = [decide('approve'), decide('reject'), decide('cancel'), decide('retry')]
  const directory = () => {
    if (directoryRoot === undefined) throw new TypeError('Looking for a group needs the directoryUrl of the client.')
    return { send, root: directoryRoot, extension }
  }
  const listRequests = (filter: RequestFilter = {}, given: CallOptions = {}) =>
    read<Page<ProvisioningRequest>>('/requests/v1/', ['value'], given, { ...filter })

  return {
    /** Asks for a mailbox. It is accepted, not made: wait for the request, or listen to the template's webhook. */
    createMailbox: (body: MailboxRequest, given: WriteOptions = {}): Promise<Accepted> =>
      write('/mail/v1/mailboxes/', 'mail', body, given),
    /** Asks for a site. It is accepted, not made: wait for the request or its group, or listen to the webhook. */
    createSite: (body: SiteRequest, given: WriteOptions = {}): Promise<Accepted> =>
      write('/collab/v1/spo/', 'collab', body, given),

    getRequest: async (requestId: string, given: CallOptions = {}): Promise<ProvisioningRequest> =>
      read(ofRequest(requestId), ['requestId', 'status'], given),
    /** One page, newest first. */
    listRequests,
    /** All pages, one request after the other: `for await (const request of client.allRequests())`. */
    allRequests: (filter: Omit<RequestFilter, 'cursor'> = {}, given: CallOptions = {}) =>
      eachOf((cursor) => listRequests({ limit: 100, ...filter, ...(cursor && { cursor }) }, given)),
    /**
     * Waits until a request has ended or failed, and gives it. The service holds its answers while nothing changes; where it does
     * not, it is asked after 20 s and then every 10 s.
     */
    waitForRequest: (requestId: string, given: WaitOptions = {}): Promise<ProvisioningRequest> =>
      waitForRequest({ send, root, resource: eitherToken, timing }, requestId, given),
    /** What either creation would make of a body, and what it would refuse. Nothing is sent, nothing written. */
    preview: async (body: SiteRequest | MailboxRequest, { as, ...given }: PreviewOptions = {}): Promise<Preview> =>
      inquire('/requests/v1/preview', ['valid', 'errors'], body, given, { query: { as } }),
    ...createBatches(readWrite, eachOf, timing),

    /** Who did what, when, with which comment; the oldest first. */
    timeline: async (requestId: string, given: CallOptions = {}): Promise<readonly TimelineEntry[]> =>
      (await read<Page<TimelineEntry>>(ofRequest(requestId, '/timeline'), ['value'], given)).value,
    /** Why these approvers, why this name, why it takes this long. */
    explanation: async (requestId: string, given: CallOptions = {}): Promise<readonly Explanation[]> =>
      (await read<Page<Explanation>>(ofRequest(requestId, '/explanation'), ['value'], given)).value,

    approve: (requestId: string, given: DecisionOptions = {}): Promise<ProvisioningRequest> =>
      approve(requestId, given),
    reject: (requestId: string, given: RejectionOptions): Promise<ProvisioningRequest> => reject(requestId, given),
    cancel: (requestId: string, given: EndingOptions = {}): Promise<ProvisioningRequest> => cancel(requestId, given),
    /** Continues a failed request at the step that failed. For admins. */
    retry: (requestId: string, given: EndingOptions = {}): Promise<ProvisioningRequest> => retry(requestId, given),

    /** The templates that the caller may use. */
    templates: async (given: CallOptions = {}): Promise<readonly AnyTemplate[]> =>
      (await read<Page<AnyTemplate>>('/templates/v1/', ['value'], given)).value,
    template: async (templateId: string, given: CallOptions = {}): Promise<AnyTemplate> =>
      read(`/templates/v1/${idOf('template', templateId)}`, ['id', 'kind'], given),
    /** Has one signed `webhook.test` sent to the webhook of a template now, and gives what came back. For admins. */
    testWebhook: async (templateId: string, given: CallOptions = {}): Promise<WebhookTestResult> =>
      inquire(`/templates/v1/${idOf('template', templateId)}/webhook/test`, ['delivered', 'status'], undefined, given),

    /** The user id of somebody by their sign-in name; undefined where the directory knows nobody of it. */
    findUserId: async (signInName: string, given: CallOptions = {}): Promise<string | undefined> =>
      findUserId(directory(), signInName, given),
    /** One look into the directory for the group of a provisioned site; undefined when it is not there. */
    findProvisionedGroup: async (requestId: string, given: CallOptions = {}): Promise<ProvisionedGroup | undefined> =>
      findProvisionedGroup(directory(), requestId, given),
    /** Looks after 20 s, then every 10 s for 30 s (API document, "Limits"); undefined when it is not there by then. */
    waitForProvisionedGroup: async (
      requestId: string,
      given: GroupWaitOptions = {},
    ): Promise<ProvisionedGroup | undefined> => waitForProvisionedGroup(directory(), timing, requestId, given),
  }
}

const decisionIn = ({ comment, stage }: DecisionOptions): object => ({
  ...(comment !== undefined && { comment }),
  ...(stage !== undefined && { stage }),
})

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
