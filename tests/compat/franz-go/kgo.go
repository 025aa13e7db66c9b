// Names the package whose own tests are run, so that the module file has all that they need.
package compat

import _ "github.com/twmb/franz-go/pkg/kgo"
