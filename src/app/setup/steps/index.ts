/** The steps of setup: each finds one part of an installation, compares it, and applies what is missing. */
import type { Step } from '../step.ts'
import { certificateStep } from './certificate.ts'
import { adminsStep, extensionStep } from './directory.ts'
import { settingsStep, templatesStep } from './files.ts'
import { consentStep, exchangeRoleStep, permissionsStep } from './permissions.ts'
import { registrationSteps } from './registrations.ts'
import { secretStep } from './secret.ts'
import { teamsAppStep } from './teams-app.ts'

/** All parts of an installation, in the order of setup. */
export const steps: readonly Step[] = [
  ...registrationSteps,
  secretStep,
  certificateStep,
  permissionsStep,
  exchangeRoleStep,
  consentStep,
  extensionStep,
  adminsStep,
  teamsAppStep,
  templatesStep,
  settingsStep,
]
