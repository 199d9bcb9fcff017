/// A substitute for swift-http-types.
public struct HTTPRequest: Sendable {
    public var path: String
    public var headerFields = HTTPFields()

    public init(path: String) { self.path = path }
}

public struct HTTPResponse: Sendable {
    public var code: Int

    public init(code: Int) { self.code = code }
}

public struct HTTPField: Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
}

public struct HTTPFields: Sendable {
    public var all: [HTTPField] = []

    public init() {}
}
