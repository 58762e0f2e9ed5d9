/**
 * The verbs that buttons on cards carry (DESIGN §6): closed, so that a button without a handler, or a handler without a
 * button, is found by a test.
 */
export const verbs = [
  'request.choose',
  'request.continue',
  'request.review',
  'request.check',
  'request.keep',
  'request.submit',
  'request.edit',
  'request.again',
  'request.cancel',
  'request.refresh',
  'request.nudge',
  'request.timeline',
  'requests.page',
  'approvals.page',
  'approval.approve',
  'approval.reject',
  'approval.refresh',
  'delegation.open',
  'delegation.save',
  'delegation.end',
  'admin.retry',
  'admin.cancel',
  'admin.approve',
  'admin.reject',
  'admin.reassign',
  'admin.examine',
  'admin.dismiss',
  'admin.replay',
  'admin.templates',
  'admin.template',
  'admin.enable',
  'admin.disable',
] as const
export type Verb = (typeof verbs)[number]
