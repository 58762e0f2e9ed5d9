/**
 * The parts of Teams' host configurations that affect the readability of a card (spacing, sizes, colours), light and
 * dark.
 */
const spacing = { small: 8, default: 12, medium: 12, large: 16, extraLarge: 20, padding: 16 }
const font = {
  fontFamily: '"Segoe UI", "Noto Sans", sans-serif',
  fontSizes: { small: 12, default: 14, medium: 14, large: 18, extraLarge: 24 },
  fontWeights: { lighter: 200, default: 400, bolder: 600 },
}
const fontTypes = { default: font, monospace: font }
const colour = (value: string, subtle: string) => ({ default: value, subtle })

function theme(of: {
  text: string
  subtle: string
  accent: string
  good: string
  attention: string
  warning: string
  bands: Record<'default' | 'emphasis' | 'accent' | 'good' | 'attention' | 'warning', string>
  line: string
}) {
  const foregroundColors = {
    default: colour(of.text, of.subtle),
    accent: colour(of.accent, of.accent),
    good: colour(of.good, of.good),
    attention: colour(of.attention, of.attention),
    warning: colour(of.warning, of.warning),
  }
  const containerStyles = Object.fromEntries(
    Object.entries(of.bands).map(([name, backgroundColor]) => [name, { backgroundColor, foregroundColors }]),
  )
  return {
    spacing,
    separator: { lineThickness: 1, lineColor: of.line },
    supportsInteractivity: true,
    fontTypes,
    containerStyles,
    textStyles: { heading: { size: 'large', weight: 'bolder' } },
    actions: {
      maxActions: 6,
      spacing: 'default',
      buttonSpacing: 8,
      actionsOrientation: 'horizontal',
      actionAlignment: 'left',
      showCard: { actionMode: 'inline', inlineTopMargin: 16 },
    },
    inputs: {
      label: { inputSpacing: 4, requiredInputs: { weight: 'bolder' }, optionalInputs: { weight: 'bolder' } },
      errorMessage: { color: 'attention' },
    },
  }
}

export const themes = {
  light: theme({
    text: '#242424',
    subtle: '#616161',
    accent: '#5b5fc7',
    good: '#92c353',
    attention: '#c4314b',
    warning: '#f8d22a',
    line: '#e0e0e0',
    bands: {
      default: '#ffffff',
      emphasis: '#f5f5f5',
      accent: '#e8ebfa',
      good: '#e7f2da',
      attention: '#fde7e9',
      warning: '#fbf6d9',
    },
  }),
  dark: theme({
    text: '#ffffff',
    subtle: '#adadad',
    accent: '#9299f7',
    good: '#92c353',
    attention: '#f1707b',
    warning: '#f8d22a',
    line: '#404040',
    bands: {
      default: '#292929',
      emphasis: '#333333',
      accent: '#32344a',
      good: '#24381f',
      attention: '#4c2428',
      warning: '#463100',
    },
  }),
}

/**
 * Teams' high contrast: the colours of Fluent's theme of that name. All bands are black there, so a card is readable only
 * if its texts carry the meaning.
 */
export const highContrast = theme({
  text: '#ffffff',
  subtle: '#ffffff',
  accent: '#1aebff',
  good: '#3ff23f',
  attention: '#ffff01',
  warning: '#ffff01',
  line: '#ffffff',
  bands: {
    default: '#000000',
    emphasis: '#000000',
    accent: '#000000',
    good: '#000000',
    attention: '#000000',
    warning: '#000000',
  },
})

/** Buttons and inputs of a card like those of Teams, which the renderer leaves to its host. `--attention` is a colour of the theme. */
export const controlStyles = `
  .ac-pushButton { font: 600 14px "Segoe UI", "Noto Sans"; padding: 5px 12px; border: 1px solid #8888; border-radius: 4px;
    background: transparent; color: inherit; white-space: nowrap; }
  .style-positive { background: #5b5fc7; color: #fff; } .style-destructive { color: var(--attention); border-color: var(--attention); }
  .ac-input { width: 100%; box-sizing: border-box; font: 14px "Segoe UI", "Noto Sans"; padding: 5px 8px; background: #8881;
    color: inherit; border: 1px solid #8886; border-radius: 4px; }
  .ac-toggleInput { padding: 0; background: none; border: 0; }`
