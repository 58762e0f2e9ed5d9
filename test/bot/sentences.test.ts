import type { Activity } from 'botbuilder'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDoubtful, type Meaning, meaningOf, withoutPoliteness } from '../../src/bot/channel/sentences/index.ts'
import { describedCommands, foundIn, vocabulary, wordsOf } from '../../src/bot/channel/sentences/words.ts'
import { clickOf, longestText, textOf } from '../../src/bot/channel/turn.ts'
import { saying } from '../support/bot-activities.ts'

/** Writes a meaning in short: `site “Aurora”`, `cancel REQ-1007`, `thanks`. */
function short(meaning: Meaning | undefined): string {
  if (!meaning) return 'help card'
  if (meaning.does === 'command') return `${meaning.command} ${meaning.argument}`.trim()
  if (meaning.does === 'question') return `question ${meaning.about}`
  if (meaning.does !== 'new') return meaning.does
  return `${meaning.kinds.join('+') || 'new'}${meaning.name === '' ? '' : ` “${meaning.name}”`}`
}

describe('the meaning of a sentence', () => {
  it.each([
    // English
    ['I need a site for project Aurora please', 'site “Project Aurora”'],
    ['can you make me a meeting room', 'room'],
    ['Hi, I need a shared mailbox called Support Desk, thanks!', 'sharedMailbox “Support Desk”'],
    ['new site for the marketing team', 'site “Marketing team”'],
    ['Please create a team site named "Aurora for Friends"', 'teamSite “Aurora for Friends”'],
    ['For project Aurora I need a site', 'site “Project Aurora”'],
    ['we would like to get a projector for the Matterhorn floor', 'equipment “Matterhorn floor”'],
    ['I need a room for 12 people', 'room'],
    ['could I have a mailbox for us', 'mailbox'],
    ['I am looking for a site for our team', 'site'],
    ['create the site Aurora', 'site “Aurora”'],
    ['how do I create a site?', 'site'],
    ['I need a meeeting rooom', 'room'],
    ['I need an equipmnt mailbx', 'equipment'],
    ['site please', 'site'],
    ['I need a site and a shared mailbox', 'site+sharedMailbox'],
    ['I need something', 'any'],
    ['I need an email address for customer support', 'sharedMailbox “Customer support”'],
    ['I want a site called Aurora because the old one is full', 'site “Aurora”'],
    ['Hi!', 'greeting'],
    ['hello there', 'greeting'],
    ['Good morning', 'greeting'],
    ['thank you', 'thanks'],
    ['Thanks a lot!', 'thanks'],
    ['thanks for the site', 'thanks'],
    ['cancel REQ-1007 please', 'cancel REQ-1007'],
    ['please cancel request 1007', 'cancel REQ-1007'],
    ['nugde REQ-1007', 'status REQ-1007'],
    ['cancle REQ-1007', 'cancel REQ-1007'],
    ['do not cancle REQ-1007', 'status REQ-1007'],
    ['nudge REQ-1O42', 'status REQ-1042'],
    ['cancel REQ-lO42', 'cancel REQ-1042'],
    ['REQ-1oo2', 'status REQ-1002'],
    ['1003', 'status REQ-1003'],
    ['please remind them about REQ-1007', 'status REQ-1007'],
    ['do not cancel REQ-1007', 'status REQ-1007'],
    ['please cancel 1007 for me', 'cancel REQ-1007'],
    ['I want to cancel 1007 because the site is full', 'cancel REQ-1007'],
    ['please cancel 1007. We moved.', 'cancel REQ-1007'],
    ['cancel 1007, the party is over', 'cancel REQ-1007'],
    ['please cancel Berlin, 2026', 'cancel'],
    ['do not cancel 1007', 'status REQ-1007'],
    ['has 1007 been approved yet', 'status REQ-1007'],
    ['why does 1007 take so long', 'why REQ-1007'],
    ['cancel 1007 and 1008', 'status REQ-1007 REQ-1008'],
    ['approve 1007 and 1008', 'approve REQ-1007 REQ-1008'],
    ['cancel request 1007 and 1008', 'status REQ-1007 REQ-1008'],
    ['status of request number 100', 'status REQ-100'],
    ['please cancel the Budget 1003 site', 'cancel'],
    ['cancel the Summer party 2026 site', 'cancel'],
    ['status of Summer party 2026', 'status'],
    ['status of Team 2026', 'status'],
    ['cancel room number 2041', 'cancel'],
    ['cancel the C# 2026 site', 'cancel'],
    ['remind them about the Summer party 2026', 'status'],
    ['can you tell me the status of 1007', 'status'],
    ['why is 1007 taking forever', 'why REQ-1007'],
    ['why did Dana reject 1007', 'status'],
    ['approve both 1007 and 1008', 'approve REQ-1007 REQ-1008'],
    ['where is REQ-1007?', 'status REQ-1007'],
    ['why does req 1007 take so long', 'why REQ-1007'],
    ['can you approve REQ-1007', 'status REQ-1007'],
    ['status REQ-1 REQ-2', 'status REQ-1 REQ-2'],
    ['where is my site', 'status'],
    ['I want to cancel my site', 'cancel'],
    ['show me my requests', 'my requests'],
    ['what do I have to approve', 'approvals'],
    ['where are my drafts', 'my drafts'],
    ['I am on holiday next week', 'delegate'],
    ['help me please', 'help'],
    ['what can you do?', 'help'],
    ['I do not need a site', 'help card'],
    ['delete my site', 'question change'],
    ['I need access to the site of Dana', 'question change'],
    ['book a meeting room for tomorrow', 'help card'],
    ['my mailbox is full', 'help card'],
    ['is it approved already?', 'status'],
    ['what’s going on with aurora', 'status'],
    ['what sites do I have', 'my requests'],
    ['oh sorry, I will fix it', 'my requests'],
    ['we need a company car', 'equipment'],
    ['how long does it take', 'question duration'],
    ['who approves HR', 'question approvers'],
    ['who has to approve this?', 'question approvers'],
    ['delete my site wg-tokyo', 'question change'],
    ['delete my sites', 'question change'],
    ['add Omar to my site Project Aurora', 'question change'],
    ['add a site to our team', 'site'],
    ['what is the weather', 'help card'],
    ['yes', 'help card'],
    ['42', 'help card'],
    ['', 'help card'],
    // German
    ['Guten Tag', 'greeting'],
    ['Hallo zusammen!', 'greeting'],
    ['Vielen Dank!', 'thanks'],
    ['Ich brauche eine Seite für Projekt Aurora', 'site “Projekt Aurora”'],
    ['Könntest du bitte einen Besprechungsraum namens Matterhorn anlegen?', 'room “Matterhorn”'],
    ['Guten Tag, ich möchte ein gemeinsames Postfach für das Team Einkauf einrichten', 'sharedMailbox “Team Einkauf”'],
    ['Eine Teamseite, die Aurora heißt, bitte', 'teamSite “Aurora”'],
    ['Für das Projekt Aurora brauche ich eine Seite', 'site “Projekt Aurora”'],
    ['bitte REQ-1007 stornieren', 'cancel REQ-1007'],
    ['Antrag 1007 abbrechen', 'cancel REQ-1007'],
    ['wo ist mein Antrag', 'my requests'],
    ['wie steht es mit meiner Seite', 'status'],
    ['meine Anträge', 'my requests'],
    ['REQ-1007 nicht stornieren', 'status REQ-1007'],
    ['bitte 1007 stornieren', 'cancel REQ-1007'],
    ['ist 1007 schon genehmigt', 'status REQ-1007'],
    ['1007 und 1008 genehmigen', 'approve REQ-1007 REQ-1008'],
    ['die Anträge 1007 und 1008 genehmigen', 'approve REQ-1007 REQ-1008'],
    ['Auftrag 1007 stornieren', 'cancel'],
    ['bitte die Seite Sommerfest 2026 stornieren', 'cancel'],
    ['die Seite Aurora stornieren', 'cancel'],
    ['Status von Raum Nr 2041', 'status'],
    ['Was kannst du?', 'help'],
    ['Bitte lösche meine Seite', 'question change'],
    ['Füge Omar zu meiner Seite hinzu', 'question change'],
    ['Wie lange dauert das?', 'question duration'],
    ['Wer genehmigt das?', 'question approvers'],
    ['ist es schon genehmigt?', 'status'],
    ['Welche Seiten habe ich?', 'my requests'],
    // French
    ['Bonjour', 'greeting'],
    ['merci beaucoup', 'thanks'],
    ['J’ai besoin d’un site pour le projet Aurora, s’il vous plaît', 'site “Projet Aurora”'],
    ['Pouvez-vous créer une salle de réunion appelée Mont Blanc ?', 'room “Mont Blanc”'],
    ['je voudrais une boîte aux lettres partagée « Accueil »', 'sharedMailbox “Accueil”'],
    ['annuler REQ-1007 svp', 'cancel REQ-1007'],
    ['où en est REQ-1007', 'status REQ-1007'],
    ['où en est 1007 ?', 'status REQ-1007'],
    ['annuler la demande 1007', 'cancel REQ-1007'],
    ['approuver 1007 et 1008', 'approve REQ-1007 REQ-1008'],
    ['annuler le site Fête d’été 2026', 'cancel'],
    ['annuler Été 2026', 'cancel'],
    ['statut de l’équipe 2026', 'status'],
    ['mes demandes', 'my requests'],
    ['Ajoutez Omar à mon site', 'question change'],
    ['combien de temps faut-il ?', 'question duration'],
    ['qui doit approuver ?', 'question approvers'],
    ['est-ce déjà approuvé ?', 'status'],
    ['mes sites', 'my requests'],
    ['J’ai besoin d’un site car le vieux est plein', 'site'],
    ['je ne veux pas de site', 'help card'],
    // Spanish
    ['Buenos días', 'greeting'],
    ['¡Muchas gracias!', 'thanks'],
    ['Necesito un sitio para el proyecto Aurora, por favor', 'site “Proyecto Aurora”'],
    ['¿Puedes crear una sala de reuniones llamada Teide?', 'room “Teide”'],
    ['Quisiera un buzón compartido que se llame Ventas', 'sharedMailbox “Ventas”'],
    ['cancela REQ-1007 por favor', 'cancel REQ-1007'],
    ['¿dónde está REQ-1007?', 'status REQ-1007'],
    ['¿dónde está la 1007?', 'status REQ-1007'],
    ['cancela la solicitud 1007', 'cancel REQ-1007'],
    ['aprobar 1007 y 1008', 'approve REQ-1007 REQ-1008'],
    ['cancela el sitio Fiesta de verano 2026', 'cancel'],
    ['estado del equipo 2026', 'status'],
    ['mis solicitudes', 'my requests'],
    ['Añade a Omar a mi sitio', 'question change'],
    ['¿cuánto tiempo tarda?', 'question duration'],
    ['¿quién tiene que aprobar?', 'question approvers'],
    ['¿ya está aprobado?', 'status'],
    ['¿qué sitios tengo?', 'my requests'],
    ['Necesito un sitio de grupo', 'teamSite'],
    ['no necesito un sitio', 'help card'],
  ])('%s: %s', (typed, expected) => {
    expect(short(meaningOf(typed))).toBe(expected)
  })

  it('keeps a typed request number in every sentence', () => {
    const number = fc.integer({ min: 1, max: 999_999_999 })
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), number, fc.string({ maxLength: 40 }), (before, digits, after) => {
        const free = (text: string) => text.replace(/[\d#"“”„«»]|req/gi, ' ')
        const meaning = meaningOf(`${free(before)} REQ-${digits} ${free(after)}`)
        expect(meaning).toMatchObject({ does: 'command', argument: `REQ-${digits}` })
      }),
    )
  })

  it('returns only commands that change nothing or ask first, whatever people type', () => {
    const phrase = fc.constantFrom(...describedCommands.flatMap((one) => firstPhrases(one)))
    const number = fc.constantFrom('REQ-1007', 'REQ-1008')
    const typed = fc.array(fc.oneof(phrase, fc.string({ maxLength: 12 }), number), { maxLength: 6 })
    fc.assert(
      fc.property(typed, (parts) => {
        const meaning = meaningOf(parts.join(' '))
        if (meaning?.does !== 'command') return
        // With several numbers, these commands decide nothing and say so.
        if (['approve', 'reject'].includes(meaning.command)) expect(meaning.argument).toMatch(/^REQ-\d+( REQ-\d+)+$/)
        // With a text that is no number, this command requires the number.
        if (meaning.command === 'nudge') expect(meaning.argument).not.toMatch(/^(REQ-\d+)?$/)
      }),
    )
  })

  it('finds a name that a person types after “called”, unchanged', () => {
    const isPlain = (name: string) => {
      const words = wordsOf(name)
      const stops = [vocabulary.polite, vocabulary.thanks, vocabulary.ends, vocabulary.for, vocabulary.create]
      return words.length > 0 && stops.every((phrases) => foundIn(phrases, words).length === 0)
    }
    const name = fc.stringMatching(/^[A-Z][a-z]{2,12}( [A-Z][a-z]{2,12}){0,3}$/).filter(isPlain)
    fc.assert(
      fc.property(name, (wanted) => {
        expect(meaningOf(`I need a site called ${wanted}, please`)).toMatchObject({ does: 'new', name: wanted })
      }),
    )
  })

  it('keeps a long name, and cuts a name that no form accepts at a space', () => {
    const name = `Überregionale ${'Arbeitsgruppe '.repeat(12)}Straßenbeleuchtung`
    expect(meaningOf(`I need a site for the ${name}`)).toMatchObject({ name })
    const long = meaningOf(`I need a site called ${'Arbeitsgruppe '.repeat(30)}`)
    expect(long).toMatchObject({ name: 'Arbeitsgruppe '.repeat(18).trim() })
  })

  it('reads any text without an error, and gives names that forms accept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const meaning = meaningOf(`I need a site for ${text}`)
        if (meaning?.does !== 'new') return
        expect(meaning.name.length).toBeLessThanOrEqual(256)
        expect(meaning.name.isWellFormed()).toBe(true)
        expect(meaning.name).not.toMatch(/[\n\r]/)
      }),
    )
  })
})

describe('a hostile text', () => {
  it('has no name without a closing quotation mark, with runs of spaces of any size', () => {
    const runs = ['"', '“', '”', '„', '«', '»'].flatMap((mark) => ['a', '1'].map((letter) => ({ mark, letter })))
    for (const { mark, letter } of runs) {
      const typed = `site ${mark}${' '.repeat(330)}${letter.repeat(320)}${' '.repeat(330)}`
      expect(short(meaningOf(typed))).toBe('help card')
    }
  })

  it.each([
    ['unfinished tags', '<at ', `${'<at '.repeat(499)}<at`],
    ['unfinished mentions', '<at>', '<at>'.repeat(500)],
    ['opening brackets', '<', '<'.repeat(2000)],
    ['spaces', ' ', ''],
    ['short words', 'no ', `${'no '.repeat(666)}no`],
  ])('of 256 KiB with %s is cut after 2,000 characters', (_, part, expected) => {
    const text = part.repeat(Math.floor(262_144 / part.length))
    expect(textOf(saying('kim', text) as Activity)).toBe(expected)
    expect(textOf(saying('kim', '', { value: { msteams: { value: text } } }) as Activity)).toBe(expected)
    const entities = [{ type: 'mention', text, mentioned: { id: '29:omar' } }]
    expect(textOf(saying('kim', 'help', { entities }) as Activity)).toBe('help')
  })

  it('has no half letter at its end', () => {
    expect(textOf(saying('kim', `${'a'.repeat(longestText - 1)}😀`) as Activity)).toBe(`${'a'.repeat(1999)}\ufffd`)
  })
})

describe('the inputs of a card', () => {
  it('are not cut as a typed text is', () => {
    const value = { verb: 'draft.save', inputs: { reason: 'x '.repeat(longestText) } }
    expect(clickOf(saying('kim', '', { value }))?.data['inputs']).toEqual(value.inputs)
  })
})

describe('the text of a button', () => {
  it('is one line without runs of spaces, as a typed text is', () => {
    const value = { msteams: { type: 'messageBack', value: '  new   site\n“ Aurora\t” ' } }
    expect(textOf(saying('kim', '', { value }) as Activity)).toBe('new site “ Aurora ”')
  })
})

describe('an argument without polite words', () => {
  it.each([
    ['REQ-1007 please', 'REQ-1007'],
    ['REQ-1007, bitte!', 'REQ-1007'],
    ['#1007 s’il vous plaît', '#1007'],
    ['1007', '1007'],
    ['REQ-1 REQ-2', 'REQ-1 REQ-2'],
    ['please', ''],
    ['', ''],
  ])('%s: %s', (typed, expected) => {
    expect(withoutPoliteness(typed)).toBe(expected)
  })
})

describe('the comment of an approval', () => {
  it.each([
    ...[
      'wait',
      'only if Omar agrees',
      'once Omar has confirmed the budget',
      'not yet',
      'later',
      'no',
      'wrong template',
    ],
    ...['unless it is free', 'after Friday', 'until Friday', 'till Friday', 'on hold', 'tomorrow', 'I reject this'],
    ...['when Omar is back', 'Omar hasn’t agreed', 'ask Omar first', 'as soon as Omar agrees', 'is it free?'],
    ...['nein', 'warte', 'später', 'SPÄTER', 'morgen', 'wenn Omar zustimmt', 'falls es passt', 'sobald Omar da ist'],
    ...['erst nächste Woche', 'nachdem Omar bestätigt hat', 'bis Freitag', 'ablehnen', 'noch nicht'],
    ...['non', 'attends', 'attendez', 'plus tard', 'demain', 's’il est d’accord', 'si Omar est d’accord', 'à refuser'],
    ...['quand Omar est là', 'dès qu’Omar accepte', 'dès que possible si Omar accepte', 'après vendredi', 'rejeter'],
    ...[
      'no',
      'espera',
      'más tarde',
      'mañana',
      'si Omar acepta',
      'cuando acepte',
      'después del lunes',
      'hasta el lunes',
    ],
    ...['rechazar', 'primero pregunta a Omar'],
  ])('is doubtful: %s', (comment) => {
    expect(isDoubtful(comment)).toBe(true)
  })

  it.each([
    ...['', 'please', 'looks good, thanks', 'ok for project Aurora', 'a good idea', 'approved as agreed with Omar'],
    ...['as soon as possible', 'notes, iffy and whenever are other words', 'the Onceonly club is called Laterne'],
    ...['passt gut, danke', 'einverstanden', 'bitte so schnell wie möglich', 'die erste Website des Teams'],
    ...['s’il vous plaît', 's’il te plaît', 'dès que possible', 'c’est parfait, merci', 'd’accord'],
    ...['por favor', 'de acuerdo, gracias', 'para el proyecto Aurora'],
    ...['sí', 'Sí, adelante'],
  ])('is clear: %s', (comment) => {
    expect(isDoubtful(comment)).toBe(false)
  })
})

/** Returns some phrases of a command in all languages. */
function firstPhrases(command: (typeof describedCommands)[number]): string[] {
  return [...(vocabulary.commands.get(command)?.values() ?? [])].flat().map((phrase) => phrase.join(' '))
}
