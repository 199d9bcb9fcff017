/// An IPv4 or IPv6 address. An IPv6 address that stands for an IPv4 address is that address.
enum InternetAddress: Hashable {
    case version4(UInt32)
    case version6(UInt128)

    private typealias Block4 = (start: UInt32, length: UInt32)
    private typealias Block6 = (start: UInt128, length: UInt128)

    /// The IPv4 blocks that do not count as part of the public internet. Most are from the IANA IPv4 Special-Purpose
    /// Address Registry (RFC 6890).
    ///
    /// Clouds have internal services for virtual machines at fixed addresses. Most of these addresses are in the
    /// registry's blocks, such as 169.254.169.254, 100.100.100.200 and 192.0.0.192. Azure's 168.63.129.16 is in none of
    /// them and is listed separately. The IPv6 address fd00:ec2::254 (AWS) is outside of ``global``.
    private static let closed4: [Block4] = [
        (0x0000_0000, 8),  // this network
        (0x0A00_0000, 8),  // private
        (0x6440_0000, 10),  // shared address space of carriers
        (0x7F00_0000, 8),  // loopback
        (0xA83F_8110, 32),  // 168.63.129.16, Azure's host services
        (0xA9FE_0000, 16),  // link-local
        (0xAC10_0000, 12),  // private
        (0xC000_0000, 24),  // protocol assignments
        (0xC000_0200, 24),  // documentation
        (0xC058_6300, 24),  // 6to4 relays, deprecated
        (0xC0A8_0000, 16),  // private
        (0xC612_0000, 15),  // benchmarking
        (0xC633_6400, 24),  // documentation
        (0xCB00_7100, 24),  // documentation
        (0xE000_0000, 4),  // multicast
        (0xF000_0000, 4),  // reserved, broadcast
    ]

    /// The IPv6 global unicast block. Source: RFC 4291 section 2.4.
    private static let global: Block6 = (0x2000 << 112, 3)

    /// The blocks inside of ``global`` that do not count as part of the public internet. Source: IANA IPv6
    /// Special-Purpose Address Registry.
    private static let closed6: [Block6] = [
        (0x2001_0000 << 96, 23),  // protocol assignments, including tunnels
        (0x2001_0DB8 << 96, 32),  // documentation
        (0x2002 << 112, 16),  // 6to4 tunnels to any IPv4 address
        (0x3FFF << 112, 20),  // documentation
    ]

    /// The IPv6 blocks whose addresses stand for the IPv4 address in their last four bytes: IPv4-mapped addresses and
    /// NAT64 (RFC 6052).
    private static let leading: [Block6] = [(0xFFFF << 32, 96), (0x0064_FF9B << 96, 96)]

    /// Creates an address; nil if there are neither 4 nor 16 bytes.
    ///
    /// - Parameter bytes: The address in network byte order.
    init?(_ bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self = .version4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let number = bytes.reduce(0) { $0 << 8 | UInt128($1) }
            let isVersion4 = Self.leading.contains { Self.holds($0, number) }
            self = isVersion4 ? .version4(UInt32(truncatingIfNeeded: number)) : .version6(number)
        default: return nil
        }
    }

    /// The network that one machine usually has for itself: an IPv4 address, or the first 64 bits of an IPv6 address.
    var network: InternetAddress {
        switch self {
        case .version4: self
        case .version6(let number): .version6((number >> 64) << 64)
        }
    }

    /// A name that no other address has.
    var name: String {
        switch self {
        case .version4(let number): "4:\(number)"
        case .version6(let number): "6:\(number)"
        }
    }

    /// Whether the address is part of the public internet.
    var isPublic: Bool {
        switch self {
        case .version4(let number): !Self.closed4.contains { Self.holds($0, number) }
        case .version6(let number):
            Self.holds(Self.global, number) && !Self.closed6.contains { Self.holds($0, number) }
        }
    }

    private static func holds<Number: FixedWidthInteger>(
        _ block: (start: Number, length: Number), _ number: Number
    ) -> Bool {
        (block.start ^ number) >> (Number(Number.bitWidth) - block.length) == 0
    }
}
