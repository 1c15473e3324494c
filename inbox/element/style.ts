// How the element looks. Every colour is a variable that a page may set on the element; contrast is 4.5:1 or better in both schemes.

const light =
  '--bg:var(--posthorn-background,#fff);--fg:var(--posthorn-text,#1b1f24);--muted:var(--posthorn-muted,#59636e);--line:var(--posthorn-border,#d5dae0);--hover:var(--posthorn-hover,#f1f4f7);--accent:var(--posthorn-accent,#0a57b0);--on-accent:var(--posthorn-on-accent,#fff);--badge:var(--posthorn-badge,#c1121f);color-scheme:light'
const dark =
  '--bg:var(--posthorn-background,#171a1f);--fg:var(--posthorn-text,#eceff2);--muted:var(--posthorn-muted,#a3adb8);--line:var(--posthorn-border,#363c45);--hover:var(--posthorn-hover,#22272e);--accent:var(--posthorn-accent,#8dc1ff);--on-accent:var(--posthorn-on-accent,#0b1622);--badge:var(--posthorn-badge,#c1121f);color-scheme:dark'

export const styleText = `
:host{${light};display:inline-block;position:relative;font:var(--posthorn-font,400 14px/1.45 system-ui,sans-serif)}
:host([hidden]){display:none}
@media (prefers-color-scheme:dark){:host(:not([theme=light])){${dark}}}
:host([theme=dark]){${dark}}
*{box-sizing:border-box}
button,select{font:inherit;color:inherit;background:none;border:0;padding:0;margin:0;cursor:pointer;border-radius:6px}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round;display:block}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.bell{position:relative;padding:10px;color:var(--posthorn-bell,currentColor)}
.bell svg{width:24px;height:24px}
.badge{position:absolute;inset-block-start:2px;inset-inline-end:0;min-width:18px;height:18px;padding:0 5px;border-radius:9px;background:var(--badge);color:#fff;font-size:11px;line-height:18px;font-weight:600;text-align:center}
.badge:empty{display:none}
.panel{position:absolute;z-index:var(--posthorn-z-index,1000);top:100%;right:0;width:var(--posthorn-width,400px);height:var(--posthorn-height,560px);max-height:80vh;max-width:calc(100vw - 16px);display:flex;flex-direction:column;background:var(--bg);color:var(--fg);border:1px solid var(--line);border-radius:var(--posthorn-radius,10px);box-shadow:0 12px 32px #0003;overflow:hidden;text-align:start}
.panel.left{left:0;right:auto}
.panel:focus{outline:none}
.panel[hidden],[hidden]{display:none}
@media (max-width:480px){.panel,.panel.left{position:fixed;inset:8px;width:auto;height:auto;max-height:none}}
header{display:flex;align-items:center;gap:4px;padding:10px 8px 4px 16px;padding-inline:16px 8px}
h2{font-size:16px;margin:0;flex:1;min-width:0}
.icon{padding:8px;color:var(--muted)}
.icon:hover,.icon:focus-visible{color:var(--fg);background:var(--hover)}
.tabs{display:flex;gap:4px;padding:4px 12px 8px;border-block-end:1px solid var(--line);overflow-x:auto}
.tabs button{padding:6px 10px;color:var(--muted);white-space:nowrap}
.tabs button[aria-pressed=true]{color:var(--fg);background:var(--hover);font-weight:600}
.body{flex:1;overflow-y:auto;overscroll-behavior:contain}
ul{list-style:none;margin:0;padding:0}
li{position:relative;border-block-end:1px solid var(--line)}
li:hover,li:focus-within{background:var(--hover)}
.main{display:grid;grid-template-columns:auto 1fr;row-gap:2px;width:100%;padding:12px 16px 12px 28px;padding-inline:28px 16px;text-align:start;border-radius:0;overflow-wrap:anywhere}
.main:focus-visible{outline-offset:-2px}
.dot{position:absolute;inset-block-start:19px;inset-inline-start:12px;width:8px;height:8px;border-radius:4px;background:var(--accent)}
.dot.high{background:var(--badge)}
img{margin-inline-end:12px;width:32px;height:32px;border-radius:16px;object-fit:cover;grid-row:span 3}
.text{grid-column:2;min-width:0}
.text.subject{font-weight:600}
time{color:var(--muted);font-size:12px;grid-column:2}
.actions{display:flex;flex-wrap:wrap;gap:8px;padding:0 16px 12px 28px;padding-inline:28px 16px}
.actions button{padding:5px 12px;border:1px solid var(--line)}
.actions .primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.actions button:disabled{opacity:.6;cursor:default}
.tools{position:absolute;inset-block-start:6px;inset-inline-end:6px;display:flex;opacity:0;background:var(--bg);border:1px solid var(--line);border-radius:8px}
li:hover .tools,li:focus-within .tools{opacity:1}
@media (hover:none){.tools{position:static;opacity:1;border:0;background:none;padding:0 22px 8px}}
.tools .icon{padding:5px}
.tools svg{width:16px;height:16px}
.snooze{position:relative;display:inline-flex}
.snooze select{position:absolute;inset:0;opacity:0;width:100%;color:#000;background:#fff}
.snooze:focus-within{outline:2px solid var(--accent);border-radius:6px}
.note{padding:40px 24px;text-align:center;color:var(--muted)}
.more{display:block;width:100%;padding:12px;color:var(--accent)}
fieldset{border:0;border-block-end:1px solid var(--line);margin:0;padding:12px 16px}
legend{font-weight:600;padding:0;float:inline-start;width:100%;margin-block-end:4px}
label{display:flex;clear:both;align-items:center;justify-content:space-between;gap:12px;min-height:36px;cursor:pointer}
input{appearance:none;flex:none;width:36px;height:20px;margin:0;border-radius:10px;background:var(--muted);position:relative;cursor:pointer}
input::after{content:"";position:absolute;inset-block-start:2px;inset-inline-start:2px;width:16px;height:16px;border-radius:8px;background:var(--bg)}
input:checked{background:var(--accent)}
input:checked::after{inset-inline-start:18px}
@media (prefers-reduced-motion:no-preference){.tools,input{transition:opacity .12s,background .12s}}
@media (forced-colors:active){.dot,.badge,input:checked{forced-color-adjust:none}}
`
