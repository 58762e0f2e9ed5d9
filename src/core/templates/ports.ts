import type { AuditPorts } from '../audit/index.ts'
import type { Template } from './template.ts'
import type { TemplateChange, TemplateVersion } from './version.ts'

export interface TemplateStore {
  list(tenantId: string): Promise<Template[]>
  find(tenantId: string, id: string): Promise<Template | undefined>
  /**
   * Writes a template whose version is `expected`+1; false when the stored version is another (0 = there is none). Each version
   * is kept, without its secrets, with who wrote it and when: without `change` nobody, such as the file of templates, just now.
   */
  put(tenantId: string, template: Template, expected: number, change?: TemplateChange): Promise<boolean>
  /** The versions that there were, the newest first. */
  versions(tenantId: string, id: string, limit: number): Promise<TemplateVersion[]>
  /** Forgets the secrets of webhooks that sign no more at this time. */
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface TemplatePorts extends AuditPorts {
  readonly templates: TemplateStore
}
