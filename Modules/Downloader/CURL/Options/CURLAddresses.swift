/// Which addresses are connected to.
public enum CURLAddresses: Sendable, Hashable {
    /// Any.
    case any
    /// Those of the open internet alone: none that is private, of this machine or link, shared by a carrier's
    /// customers, multicast or reserved, in version 4 or 6 of the protocol, nor one that leads to such (IPv4-mapped,
    /// NAT64), nor one at which a cloud answers its own machines, such as 168.63.129.16. For servers that fetch what
    /// strangers name. A request that finds no other address is `addressRefused`.
    ///
    /// Each new connection is judged by the address that it goes to: however the URL spells it, whatever the host's name
    /// resolves to in that moment, and after a redirect as before. With a proxy that is the proxy's address: who wants
    /// this wants ``CURLProxy/none``.
    case publicOnly
}
