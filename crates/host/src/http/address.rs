//! Which network an IP address belongs to, as far as the guard cares.
//!
//! The ranges are written out by hand from the IANA special-purpose registries: whatever is
//! not known to be public is private. An IPv6 address that carries an IPv4 one inside is
//! never milder than what it carries, because somewhere a translator may unwrap it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ordered from mild to severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressClass {
    /// The internet.
    Public,
    /// This machine, its own network, or reserved: only with `net.private`.
    Private,
    /// Link-local, cloud metadata, multicast: never, whatever is granted.
    Forbidden,
}

pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

const FORBIDDEN_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(100, 100, 100, 200), 32), // metadata (Alibaba)
    (Ipv4Addr::new(168, 63, 129, 16), 32),   // metadata (Azure)
    (Ipv4Addr::new(169, 254, 0, 0), 16),     // link-local, and most clouds' metadata
    (Ipv4Addr::new(192, 0, 0, 192), 32),     // metadata (Oracle)
    (Ipv4Addr::new(224, 0, 0, 0), 4),        // multicast
];

const PRIVATE_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8), // "this network"; 0.0.0.0 connects to this machine
    (Ipv4Addr::new(10, 0, 0, 0), 8), // RFC 1918
    (Ipv4Addr::new(100, 64, 0, 0), 10), // carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8), // loopback
    (Ipv4Addr::new(172, 16, 0, 0), 12), // RFC 1918
    (Ipv4Addr::new(192, 0, 0, 0), 24), // IETF protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24), // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24), // 6to4 relays, deprecated
    (Ipv4Addr::new(192, 168, 0, 0), 16), // RFC 1918
    (Ipv4Addr::new(198, 18, 0, 0), 15), // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24), // documentation
    (Ipv4Addr::new(240, 0, 0, 0), 4), // reserved, and broadcast
];

const FORBIDDEN_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128), // metadata (AWS)
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),  // metadata (Google)
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128), // metadata (Oracle)
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128),   // metadata (Scaleway)
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),          // link-local
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),           // multicast
];

/// The only part of IPv6 that is handed out as public addresses. Everything else (loopback,
/// unique local, site-local, discard, local NAT64 …) is private without being listed.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

const PRIVATE_IN_GLOBAL_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // IETF protocol assignments
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    let inside = |ranges: &[(Ipv4Addr, u32)]| {
        let bits = u32::from(address);
        ranges.iter().any(|(net, length)| (bits ^ u32::from(*net)) >> (32 - length) == 0)
    };
    match () {
        () if inside(FORBIDDEN_V4) => AddressClass::Forbidden,
        () if inside(PRIVATE_V4) => AddressClass::Private,
        () => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    let own = match () {
        () if FORBIDDEN_V6.iter().any(|range| inside_v6(address, *range)) => AddressClass::Forbidden,
        () if is_public_carrier(address) => AddressClass::Public,
        () if !inside_v6(address, GLOBAL_V6) => AddressClass::Private,
        () if PRIVATE_IN_GLOBAL_V6.iter().any(|range| inside_v6(address, *range)) => AddressClass::Private,
        () => AddressClass::Public,
    };
    carried(address).into_iter().flatten().map(classify_v4).fold(own, AddressClass::max)
}

/// Forms that do reach the internet, by way of the IPv4 address inside.
fn is_public_carrier(address: Ipv6Addr) -> bool {
    matches!(
        address.segments(),
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0x2001, 0, ..]
    )
}

/// The IPv4 addresses inside an IPv6 address; Teredo carries its server and its client.
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    match address.segments() {
        // Compatible, mapped, translated, NAT64.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => [Some(v4(high, low)), None],
        // 6to4.
        [0x2002, high, low, ..] => [Some(v4(high, low)), None],
        // Teredo; the client's address is stored inverted.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            [Some(v4(high, low)), Some(v4(!client_high, !client_low))]
        }
        _ => [None, None],
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

fn inside_v6(address: Ipv6Addr, (net, length): (Ipv6Addr, u32)) -> bool {
    (u128::from(address) ^ u128::from(net)) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AddressClass::*, *};

    #[test]
    fn known_addresses_have_their_class() {
        let table = [
            (
                Public,
                "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
                 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 \
                 198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111 2400:cb00::1 ::ffff:8.8.8.8 \
                 64:ff9b::8.8.8.8 2002:808:808::1 2001:0:808:808::f7f7:f7f7",
            ),
            (
                Private,
                "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 \
                 127.255.255.255 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 \
                 198.19.255.255 198.51.100.1 203.0.113.1 240.0.0.1 255.255.255.255 :: ::1 ::2 ::127.0.0.1 \
                 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::10.0.0.1 \
                 64:ff9b:1::1 100::1 2001:2::1 2001:10::1 2001:db8::1 2002:7f00:1::1 2002:a00:1:: \
                 2001:0:808:808::f5ff:fffe 3fff::1 4000::1 5f00::1 fc00::1 fd12:3456::1 fec0::1 feff::1",
            ),
            (
                Forbidden,
                "169.254.0.1 169.254.169.254 169.254.255.255 100.100.100.200 168.63.129.16 192.0.0.192 \
                 224.0.0.1 239.255.255.255 fe80::1 febf::1 ff02::1 fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe \
                 fd00:42::42 ::ffff:169.254.169.254 ::169.254.169.254 ::ffff:0:169.254.169.254 \
                 64:ff9b::169.254.169.254 2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1 2001:0:808:808::5601:5601",
            ),
        ];
        for (class, addresses) in table {
            for address in addresses.split_whitespace() {
                assert_eq!(classify(address.parse().unwrap()), class, "{address}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_carries_an_address_is_never_milder(bits: u32, rest: u128) {
            let inner = classify_v4(bits.into());
            let low = u128::from(bits);
            let client = u128::from(!bits);
            let carriers = [
                low,
                0xffff << 32 | low,
                0xffff << 48 | low,
                0x64_ff9b << 96 | low,
                0x2002 << 112 | low << 80 | rest >> 48,
                0x2001 << 112 | low << 64 | rest >> 64,
                0x2001 << 112 | (rest >> 64 & 0xffff_ffff_ffff_ffff) << 32 | client,
            ];
            for carrier in carriers {
                let carrier = Ipv6Addr::from(carrier);
                prop_assert!(classify_v6(carrier) >= inner, "{carrier}");
            }
        }

        #[test]
        fn a_mapped_address_is_its_inner_one(bits: u32) {
            let inner = Ipv4Addr::from(bits);
            prop_assert_eq!(classify(inner.to_ipv6_mapped().into()), classify(inner.into()));
        }

        #[test]
        fn nothing_outside_the_global_block_is_public(bits: u128) {
            let address = Ipv6Addr::from(bits);
            if classify_v6(address) == Public && carried(address) == [None, None] {
                prop_assert!(inside_v6(address, GLOBAL_V6), "{address}");
            }
        }
    }
}
