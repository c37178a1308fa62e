//! MD5 (RFC 1321), by which `HippoRAG` names passages: no protection against anything.

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
const SINES: [u32; 64] = sines();

/// The sines of 1 to 64, times 2^32.
const fn sines() -> [u32; 64] {
    [
        0xd76a_a478,
        0xe8c7_b756,
        0x2420_70db,
        0xc1bd_ceee,
        0xf57c_0faf,
        0x4787_c62a,
        0xa830_4613,
        0xfd46_9501,
        0x6980_98d8,
        0x8b44_f7af,
        0xffff_5bb1,
        0x895c_d7be,
        0x6b90_1122,
        0xfd98_7193,
        0xa679_438e,
        0x49b4_0821,
        0xf61e_2562,
        0xc040_b340,
        0x265e_5a51,
        0xe9b6_c7aa,
        0xd62f_105d,
        0x0244_1453,
        0xd8a1_e681,
        0xe7d3_fbc8,
        0x21e1_cde6,
        0xc337_07d6,
        0xf4d5_0d87,
        0x455a_14ed,
        0xa9e3_e905,
        0xfcef_a3f8,
        0x676f_02d9,
        0x8d2a_4c8a,
        0xfffa_3942,
        0x8771_f681,
        0x6d9d_6122,
        0xfde5_380c,
        0xa4be_ea44,
        0x4bde_cfa9,
        0xf6bb_4b60,
        0xbebf_bc70,
        0x289b_7ec6,
        0xeaa1_27fa,
        0xd4ef_3085,
        0x0488_1d05,
        0xd9d4_d039,
        0xe6db_99e5,
        0x1fa2_7cf8,
        0xc4ac_5665,
        0xf429_2244,
        0x432a_ff97,
        0xab94_23a7,
        0xfc93_a039,
        0x655b_59c3,
        0x8f0c_cc92,
        0xffef_f47d,
        0x8584_5dd1,
        0x6fa8_7e4f,
        0xfe2c_e6e0,
        0xa301_4314,
        0x4e08_11a1,
        0xf753_7e82,
        0xbd3a_f235,
        0x2ad7_d2bb,
        0xeb86_d391,
    ]
}

/// The digest of a text, in hexadecimal digits.
pub fn in_hex(text: &[u8]) -> [u8; 32] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut rest = text;
    while let Some((chunk, behind)) = rest.split_first_chunk::<64>() {
        take(&mut state, chunk);
        rest = behind;
    }
    let mut last = [[0; 64]; 2];
    let flat = last.as_flattened_mut();
    flat[..rest.len()].copy_from_slice(rest);
    flat[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    flat[end - 8..end].copy_from_slice(&(text.len() as u64).wrapping_mul(8).to_le_bytes());
    for chunk in &last[..end / 64] {
        take(&mut state, chunk);
    }
    let mut digits = [0; 32];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(state.iter().flat_map(|word| word.to_le_bytes())) {
        pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
    digits
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn take(state: &mut [u32; 4], chunk: &[u8; 64]) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(chunk.chunks_exact(4)) {
        *word = bytes.first_chunk::<4>().map_or(0, |four| u32::from_le_bytes(*four));
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for (step, &sine) in SINES.iter().enumerate() {
        let (mixed, word) = match step / 16 {
            0 => (d ^ (b & (c ^ d)), step),
            1 => (c ^ (d & (b ^ c)), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(words[word % 16]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4])));
    }
    for (word, added) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(added);
    }
}

#[cfg(test)]
mod tests {
    use super::in_hex;

    #[test]
    fn digests_are_those_of_the_standard() {
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(in_hex(text.as_bytes()), digest.as_bytes());
        }
    }
}
