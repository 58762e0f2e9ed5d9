import english from '../../cards/strings/en.json' with { type: 'json' }

/** All words of ours on cards. Templates read them as `strings`, inside `$data` as `$root.strings`. */
export const strings = english
