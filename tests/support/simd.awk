# Usage: objdump -d --no-show-raw-insn OBJECT | awk -v width=ymm|zmm -f simd.awk OUTPUTS -
# Judges every row function (strake_row_*) of an x86-64 object: prints "yes NAME ..." where its work is
# done in full vector registers and "no NAME why" where not. The file OUTPUTS has lines "NAME COUNT",
# the arrays that a loop writes, for those that do not write one; less than 0: it only copies so many lines.
#
# A loop is what lies between the target of a conditional jump backwards and the jump, with no other
# loop and no return inside. It is a vector loop if it computes in registers of that width, and has no
# scalar arithmetic (comparing two numbers that are the same all along the row is allowed), no call,
# and takes no vector apart. A function passes if its vector loops store, with full registers, into as
# many arrays as it writes, and if none of its other loops (what is left at the end of a row) has more
# arithmetic than they have. A loop that the compiler left scalar, or in narrower registers, or scalar
# in one of its outputs, fails.

function judge(    k, m, j, inner, packed, stores, scalar, bad, left, arithmetic, written, most, loops,
               want, is_copy) {
    if (name == "") {
        return
    }
    is_copy = name in outputs && outputs[name] < 0
    for (k = 1; k <= jumps; k++) {
        inner = 1
        for (m = 1; m <= jumps; m++) {
            if (m != k && start[m] >= start[k] && finish[m] <= finish[k] && \
                !(start[m] == start[k] && finish[m] == finish[k])) {
                inner = 0
            }
        }
        if (!inner) {
            continue
        }
        packed = stores = scalar = bad = left = 0
        for (j = 1; j <= lines; j++) {
            if (address[j] >= start[k] && address[j] <= finish[k]) {
                packed += is_packed[j]
                stores += is_store[j]
                scalar += is_scalar[j]
                bad += is_bad[j]
                left += is_return[j]
            }
        }
        if (left > 0) {
            continue
        }
        if ((packed > 0 || (is_copy && stores > 0)) && scalar == 0 && bad == 0) {
            loops++
            arithmetic += packed
            written += stores
        } else if (scalar > most) {
            most = scalar
        }
    }
    want = is_copy ? -outputs[name] : name in outputs ? outputs[name] : 1
    if (loops == 0) {
        print "no " name " no loop in " width " registers"
    } else if (written < want) {
        print "no " name " " written + 0 " full stores, " want " arrays written"
    } else if (most > arithmetic) {
        print "no " name " a loop with " most " scalar instructions, " arithmetic " in vectors"
    } else {
        print "yes " name " " arithmetic " packed, " written + 0 " stores"
    }
}

function padded(hex) {
    return substr("0000000000000000" hex, length(hex) + 1)
}

FNR == NR {
    outputs[$1] = $2
    next
}

/^[0-9a-f]+ <.*>:$/ {
    judge()
    name = ""
    lines = jumps = 0
    if (match($2, /strake_row_[A-Za-z0-9_]+>:/)) {
        name = substr($2, RSTART, RLENGTH - 2)
        sub(/^strake_row_/, "", name)
        sub(/_f(32|64)_[a-z0-9]+$/, "", name)
        first = padded($1)
    }
    next
}

name != "" && /^ *[0-9a-f]+:/ {
    at = $1
    sub(/:$/, "", at)
    operation = $2
    operands = $3
    full = index(operands, "%" width) > 0
    lines++
    address[lines] = padded(at)
    # Floating point, and the integer instructions that stand for selection and comparison.
    is_packed[lines] = full && \
        (operation ~ /^v(add|sub|mul|div|max|min|sqrt|and|andn|or|xor|cmp[a-z_]*|blendm?|blendv)p[sd]$/ || \
         operation ~ /^vp(and|andn|or|xor|add|sub|cmp|ternlog|testn?m|max|min|blend|srl|sra|sll)[a-z]*$/)
    is_scalar[lines] = operation ~ /^v?(add|sub|mul|div|max|min|sqrt|cmp[a-z_]*)s[sd]$/
    is_store[lines] = operation ~ /^vmov(u|a|nt)p[sd]$|^vmovdq[ua][0-9]*$|^vmovntdq$/ && \
        operands ~ ("^%" width "[0-9]+,[^%]*\\(")
    is_return[lines] = operation ~ /^retq?$/
    is_bad[lines] = operation ~ /^(call|vp?gather|vp?scatter|vextract|vpextr|vpinsr)/ || \
        (operation ~ /^vmov(s|l|h|hl|lh)p?[sd]$/ && operands ~ /^%xmm[0-9]+,[^%]*\(/)
    if (operation ~ /^j/ && operation != "jmp" && operands ~ /^[0-9a-f]+$/) {
        target = padded(operands)
        if (target <= address[lines] && target >= first) {
            jumps++
            start[jumps] = target
            finish[jumps] = address[lines]
        }
    }
}

END {
    judge()
}
