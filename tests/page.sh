#!/bin/bash
# Usage: bash tests/page.sh PROGRAM [SCREENSHOT.png]
# Opens a page of `strake view --html` in headless Chromium, which it installs where it is missing: moves
# the slider, points at a cell, plays, and compares what the page then says with the output files.
set -eu
program=$(realpath "$1")
shot=${2:+$(realpath -m "$2")}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    browser=$(command -v chromium)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >case.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 60, cols: 90}
time: {dt: 0.1, steps: 100}
fields: {psi: {gaussian: {center: [30, 30], sigma: 8, height: 4, base: 0}}, u1: {constant: 0}, u2: {constant: 0.5}, h: {constant: 1}}
output: {every: 10, fields: [psi]}
CASE
"$program" run case.yaml --on serial --quiet --output out
"$program" view out --html page.html
# What a person does, at the end of a copy of the page; what it then says goes into an attribute.
cat >drive.js <<'JS'
<script>
const said = [by("when").textContent, document.querySelector(".axis.right").textContent];
by("slider").value = 4; by("slider").oninput(); said.push(by("when").textContent);
const box = by("picture").getBoundingClientRect();
by("picture").onmousemove({clientX: box.left + box.width * 55.5 / 90, clientY: box.top + box.height * 30.5 / 60});
said.push(by("value").textContent);
by("play").onclick();
setTimeout(() => { by("play").onclick(); said.push(by("when").textContent); document.body.dataset.said = said.join("|"); }, 500);
</script></body>
JS
sed -e '/<\/body>/{r drive.js' -e 'd}' page.html >drive.html
"$browser" --headless --no-sandbox --disable-gpu --window-size=1000,900 --virtual-time-budget=4000 \
    --dump-dom "file://$work/drive.html" 2>/dev/null >dom.html
said=$(grep -o 'data-said="[^"]*"' dom.html | sed 's/data-said="//; s/"$//')
echo "the page says: $said"
# Row 30, column 55 of step 50, at its place behind the header of 128 bytes, as the page rounds it.
value=$(od -An -tf8 -j $((128 + 8 * (30 * 90 + 55))) -N 8 out/psi_00000050.npy | awk '{ printf "%.4g", $1 }')
shown=$(echo "$said" | sed 's/.*row 30, column 55: \([^|]*\)|.*/\1/' | awk '{ printf "%.4g", $1 }')
if [ -n "$shot" ]; then
    "$browser" --headless --no-sandbox --disable-gpu --window-size=1000,900 --virtual-time-budget=4000 \
        --screenshot="$shot" "file://$work/drive.html" >/dev/null 2>&1
    echo "picture: $shot"
fi
case $said in
    "step 100, 10 s|y [m]|step 50, 5 s|row 30, column 55: "*"|step "[67]"0, "*) ;;
    *) echo 'check-page: slider, pointer or play does not work'; exit 1 ;;
esac
[ "$value" = "$shown" ] || { echo "check-page: the file has $value, the page says $shown"; exit 1; }
echo 'check-page: the last output comes first; slider, value under the pointer and play work'

# Particles: fields to choose, walls, axes.
cat >dam.yaml <<'CASE'
problem: sph2d
scene: {spacing: 0.05, to: [1, 0.5], fluid: [{box: {from: [0, 0], to: [0.4, 0.4]}}], walls: [{sides: [bottom, left, right]}]}
time: {end: 0.02}
output: {every_seconds: 0.01}
CASE
"$program" run dam.yaml --on serial --quiet --output dam
"$program" view dam --html page.html
cat >drive.js <<'JS'
<script>
const said = [[...by("field").options].map(o => o.value).join(" ")];
by("field").value = "kind"; by("field").onchange(); by("field").value = "pressure"; by("field").onchange();
const box = by("picture").getBoundingClientRect();
const look = (x, z) => {
  by("picture").onmousemove({clientX: box.left + box.width * x, clientY: box.top + box.height * z});
  said.push(by("value").textContent.replace(/[0-9.e+-]+ Pa/, "N Pa").replace(/: .* m,|[-0-9.]+ m/g, "N m"));
};
look(0.01, 0.5); look(0.3, 0.7); look(0.8, 0.1);
said.push(by("when").textContent.replace(/[0-9]+/, "N"));
document.body.dataset.said = said.join("|");
</script></body>
JS
sed -e '/<\/body>/{r drive.js' -e 'd}' page.html >drive.html
said=$("$browser" --headless --no-sandbox --disable-gpu --window-size=1000,900 --virtual-time-budget=4000 \
    --dump-dom "file://$work/drive.html" 2>/dev/null | grep -o 'data-said="[^"]*"')
echo "the page of particles says: $said"
[ "$said" = 'data-said="velocity density pressure kind|x N m, z N m: wall or body|x N m, z N m: N Pa|x N m, z N m: no particle|step N, 0.02 s"' ] ||
    { echo 'check-page: particles, their fields or walls are not as they should be'; exit 1; }
echo 'check-page: particles have fields to choose, walls and places in metres'
