package import FoundationEssentials

extension URL {
    /// Scheme, host and port of an address on the web: what credentials and connections belong to. Source: RFC 9110
    /// section 4.3.1.
    package var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host()?.lowercased() ?? ""):\(port)"
    }
}
