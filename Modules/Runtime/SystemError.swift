/// The error number of a failed system call. It must be taken from `errno` immediately, because later calls may change
/// that.
package struct SystemError: Error {
    package let number: Int32

    package init(number: Int32) { self.number = number }
}
